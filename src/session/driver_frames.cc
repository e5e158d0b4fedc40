#include "session/driver_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <charconv>

#include "base/base64.h"

namespace igloo::session {
namespace {

namespace json = boost::json;

std::unexpected<Error> Nonsense(std::string_view what) {
  return Fail(Errc::kProtocol,
              fmt::format("the interpreter said something that makes no sense: {}", what),
              "the code disturbed the channel that igloo speaks to it on");
}

struct Header {
  std::string_view kind = {};
  std::uint64_t id = 0, size = 0;
};

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Header> ReadHeader(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto id = Number(line.substr(first + 1, second - first - 1));
  const auto size = Number(line.substr(second + 1));
  if (!id || !size) return std::nullopt;
  return Header{line.substr(0, first), *id, *size};
}

/// "exit ID STATUS": a header whose size is a status.
Result<Said> ReadExit(const Header& header) {
  if (header.size > 255) return Nonsense("a status that is none");
  return said::Done{.id = header.id, .status = static_cast<int>(header.size)};
}

std::optional<std::string> TextOf(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->as_string());
}

/// What each kind of message may say. "error" is for people who look at the channel.
struct Known {
  std::string_view kind;
  std::array<std::string_view, 4> names;
};
constexpr Known kKinds[] = {
    {"ready", {"pid"}},
    {"standin", {"pid"}},
    {"piece", {"data"}},
    {"part", {"type", "data", "encoding"}},
    {"done", {"status", "value", "error", "interrupted"}},
};

/// Nothing that a driver says has anything within its values.
constexpr std::size_t kDeepest = 1;

/// SECURITY: code chooses these bytes. What no driver says is not read at all, so a message cannot
/// make igloo hold more than its own length.
Result<json::object> ReadObject(std::string_view kind, std::string_view payload) {
  const auto* known = std::ranges::find(kKinds, kind, &Known::kind);
  if (known == std::end(kKinds)) return Nonsense("a kind of message that nobody knows");
  boost::system::error_code error;
  json::parse_options options;
  options.max_depth = kDeepest;
  json::value value = json::parse(payload, error, {}, options);
  if (error || !value.is_object()) return Nonsense("a message that is not JSON");
  for (const auto& member : value.as_object()) {
    const std::string_view name = member.key();
    if (name.empty() || std::ranges::find(known->names, name) == known->names.end()) {
      return Nonsense("a field that nobody knows");
    }
  }
  return std::move(value.as_object());
}

Result<Said> ReadProcess(std::string_view kind, const json::object& object) {
  const json::value* pid = object.if_contains("pid");
  const bool none = kind == "standin" && pid != nullptr && *pid == 0;
  const bool fine = none || (pid != nullptr && pid->is_int64() && pid->as_int64() > 1 &&
                             pid->as_int64() < (1 << 22));
  if (!fine) return Nonsense("a process without a number");
  const int number = static_cast<int>(pid->as_int64());
  if (kind == "ready") return said::Ready{number};
  return said::StandsIn{number};
}

Result<Said> ReadDone(std::uint64_t id, const json::object& object) {
  const json::value* status = object.if_contains("status");
  if (status == nullptr || !status->is_int64()) return Nonsense("an end without a status");
  const std::int64_t code = status->as_int64();
  if (code < 0 || code > 255) return Nonsense("a status that is none");
  const json::value* interrupted = object.if_contains("interrupted");
  return said::Done{
      .id = id,
      .status = static_cast<int>(code),
      .value = TextOf(object, "value"),
      .interrupted = interrupted != nullptr && interrupted->is_bool() && interrupted->as_bool()};
}

}  // namespace

Result<void> DriverFrames::Collect(std::uint64_t id, std::string_view data) {
  if (!pieces_) pieces_ = Pieces{.id = id};
  if (pieces_->id != id) return Nonsense("a piece of another part");
  if (data.size() > kLongestPart - pieces_->data.size()) return Nonsense("a part that is too long");
  pieces_->data += data;
  return {};
}

Result<Said> DriverFrames::TakePiece(std::uint64_t id, std::string data) {
  // SECURITY: each one costs igloo a look at its JSON, so they must not come for ever. No driver
  // sends an empty one, which would never make a part too long.
  if (data.empty()) return Nonsense("an empty piece");
  IGLOO_TRY(Collect(id, data));
  if (++pieces_->count > kMostPieces) return Nonsense("a part of too many pieces");
  return said::Piece{id, data.size()};
}

Result<Said> DriverFrames::TakePart(std::uint64_t id, std::string type, std::string_view encoding,
                                    std::string data) {
  IGLOO_TRY(Collect(id, data));
  Part part{std::move(type), std::move(pieces_->data)};
  pieces_.reset();
  if (encoding == "base64") {
    auto bytes = FromBase64(part.bytes);
    if (!bytes) return Nonsense("a part that is not base64");
    part.bytes = *std::move(bytes);
  }
  return said::Shown{id, std::move(part), data.size()};
}

Result<std::optional<Said>> DriverFrames::Next() {
  const std::size_t end = bytes_.find('\n');
  if (end == std::string::npos || end > kLongestHeader) {
    if (bytes_.size() <= kLongestHeader) return std::nullopt;
    return Nonsense("a message without a header");
  }
  const std::string_view line = std::string_view(bytes_).substr(0, end);
  const auto header = ReadHeader(line);
  if (!header || header->size > kLongestPayload) return Nonsense("a header that is none");
  const std::string kind(header->kind);
  const bool exits = kind == "exit";
  if (!exits && bytes_.size() - end - 1 < header->size) return std::nullopt;
  if (pieces_ && kind != "piece" && kind != "part") return Nonsense("half of a part");
  if (exits) {
    auto said = ReadExit(*header);
    bytes_.erase(0, end + 1);
    return said;
  }
  const std::uint64_t id = header->id;
  auto object = ReadObject(kind, std::string_view(bytes_).substr(end + 1, header->size));
  bytes_.erase(0, end + 1 + header->size);
  if (!object) return std::unexpected(std::move(object).error());
  if (kind == "ready" || kind == "standin") return ReadProcess(kind, *object);
  if (kind == "done") return ReadDone(id, *object);
  auto data = TextOf(*object, "data");
  if (!data) return Nonsense("a part without data");
  if (kind == "piece") return TakePiece(id, *std::move(data));
  auto type = TextOf(*object, "type");
  const auto encoding = TextOf(*object, "encoding");
  if (!type || type->size() > 100 || !encoding) return Nonsense("a part without a type");
  return TakePart(id, *std::move(type), *encoding, *std::move(data));
}

std::string EncodeOrder(std::string_view word, std::uint64_t id, std::string_view code,
                        std::string_view flags) {
  const bool nul = code.find('\0') != std::string_view::npos;
  std::string order =
      fmt::format("{} {:<11} {:<11} {}{}", word, id, code.size(), flags, nul ? ",nul" : "");
  order.resize(kOrderHeader - 1, ' ');
  order += '\n';
  order += code;
  return order;
}

}  // namespace igloo::session
