#include "network/body.h"

#include <algorithm>

namespace igloo::network {

namespace {

constexpr unsigned kMostExtra = 8U << 10, kMostDigits = 15;

std::unexpected<HttpProblem> Bad(const char* reason) {
  return std::unexpected(HttpProblem{400, reason});
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsTextByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 0x20 && byte != 0x7f) || c == '\t';
}

}  // namespace

Body::Body(const Framing& framing) : left_(framing.length) {
  switch (framing.kind) {
    case Framing::Kind::kNone:
      state_ = State::kEnded;
      break;
    case Framing::Kind::kLength:
      state_ = framing.length == 0 ? State::kEnded : State::kPlain;
      break;
    case Framing::Kind::kChunked:
      state_ = State::kSize;
      left_ = 0;
      break;
    case Framing::Kind::kUntilClose:
      state_ = State::kUntilClose;
      break;
  }
}

std::uint64_t Body::plain() const {
  if (state_ == State::kUntilClose) return UINT64_MAX;
  return state_ == State::kPlain || state_ == State::kChunk ? left_ : 0;
}

void Body::Skip(std::uint64_t count) {
  if (state_ == State::kUntilClose) return;
  left_ -= count;
  if (left_ > 0) return;
  state_ = state_ == State::kPlain ? State::kEnded : State::kChunkReturn;
}

HttpResult<std::size_t> Body::Take(std::string_view bytes, std::string* content) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !ended()) {
    if (const std::uint64_t plain_left = plain(); plain_left > 0) {
      const std::uint64_t count = std::min<std::uint64_t>(plain_left, bytes.size() - taken);
      if (content != nullptr) content->append(bytes.substr(taken, count));
      Skip(count);
      taken += count;
      continue;
    }
    if (const auto step = Step(bytes[taken]); !step) return std::unexpected(step.error());
    ++taken;
  }
  return taken;
}

HttpResult<void> Body::StepSize(char c) {
  const int digit = HexDigit(c);
  if (digit >= 0) {
    if (++digits_ > kMostDigits) return Bad("a chunk's size is too long");
    left_ = left_ * 16 + static_cast<unsigned>(digit);
    return {};
  }
  if (digits_ == 0) return Bad("a chunk has no size");
  if (c == '\r') {
    state_ = State::kSizeEnd;
  } else if (c == ';') {
    state_ = State::kExtension;
  } else {
    return Bad("a chunk's size is no hexadecimal number");
  }
  return {};
}

HttpResult<void> Body::StepTrailer(char c) {
  if (++extra_ > kMostExtra) return Bad("the trailers are too long");
  if (c == '\r') {
    state_ = column_ == 0 ? State::kLast : State::kTrailerEnd;
  } else if (!IsTextByte(c) || (column_ == 0 && (c == ' ' || c == '\t' || c == ':'))) {
    return Bad("a trailer is no header");
  } else {
    ++column_;
  }
  return {};
}

HttpResult<void> Body::Step(char c) {
  switch (state_) {
    case State::kSize:
      return StepSize(c);
    case State::kExtension:
      if (++extra_ > kMostExtra) return Bad("the chunks' extensions are too long");
      if (c == '\r') {
        state_ = State::kSizeEnd;
      } else if (!IsTextByte(c)) {
        // SECURITY: an LF here ends the line for some servers, which then read a chunk of another
        // size.
        return Bad("a chunk's extension holds a control byte");
      }
      return {};
    case State::kSizeEnd:
      if (c != '\n') return Bad("a chunk's size does not end with CRLF");
      digits_ = 0;
      column_ = 0;
      state_ = left_ == 0 ? State::kTrailer : State::kChunk;
      return {};
    case State::kChunkReturn:
      if (c != '\r') return Bad("a chunk does not end with CRLF");
      state_ = State::kChunkEnd;
      return {};
    case State::kChunkEnd:
      if (c != '\n') return Bad("a chunk does not end with CRLF");
      state_ = State::kSize;
      return {};
    case State::kTrailer:
      return StepTrailer(c);
    case State::kTrailerEnd:
      if (c != '\n') return Bad("a trailer does not end with CRLF");
      column_ = 0;
      state_ = State::kTrailer;
      return {};
    case State::kLast:
      if (c != '\n') return Bad("the last chunk does not end with CRLF");
      state_ = State::kEnded;
      return {};
    case State::kPlain:
    case State::kUntilClose:
    case State::kChunk:
    case State::kEnded:
      break;
  }
  return Bad("nothing is read here");
}

}  // namespace igloo::network
