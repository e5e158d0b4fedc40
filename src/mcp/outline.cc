#include "mcp/outline.h"

#include <boost/json/parse.hpp>

#include "mcp/pch.h"

namespace igloo::mcp {

namespace {

/// An id as a text in which every byte is written as \u0000, and its quotation marks.
constexpr std::size_t kLongestToken = kLongestId * 6 + 2;

/// What a name or a value means; null when it is no JSON.
boost::json::value Meaning(std::string_view token) {
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(token, error);
  return error ? boost::json::value() : value;
}

/// Names are hardly ever written with escapes, and a message may have millions of them.
std::string NameOf(std::string_view token) {
  if (token.size() >= 2 && token.find('\\') == std::string_view::npos) {
    return std::string(token.substr(1, token.size() - 2));
  }
  const boost::json::value name = Meaning(token);
  return name.is_string() ? std::string(name.get_string()) : std::string();
}

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

void OutlineReader::Read(std::string_view bytes) {
  for (const char c : bytes) {
    if (at_ == At::kFinished) return;
    if (in_string_) {
      ReadString(c);
    } else if (!IsBlank(c)) {
      ReadPunctuation(c);
    } else if (at_ == At::kValue && depth_ == 1 && !token_.empty()) {
      Keep(c);  // or else `1 2` would become 12
    }
  }
}

void OutlineReader::Keep(char c) {
  // Deeper is an object or a list: no name, and no id.
  if (depth_ == 1 && token_.size() < kLongestToken) {
    token_ += c;
  } else {
    overlong_ = true;
  }
}

void OutlineReader::ReadString(char c) {
  Keep(c);
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
    if (depth_ == 1 && at_ == At::kKey) {
      EndName();
    }
  }
}

void OutlineReader::ReadPunctuation(char c) {
  if (depth_ == 0) {
    at_ = c == '{' ? At::kKey : At::kFinished;
    depth_ = 1;
    return;
  }
  if (depth_ == 1) return ReadMember(c);
  in_string_ = c == '"';
  if (c == '{' || c == '[') ++depth_;
  if (c == '}' || c == ']') --depth_;
}

void OutlineReader::ReadMember(char c) {
  if (at_ == At::kKey) {
    token_.clear();
    overlong_ = false;
    in_string_ = c == '"';
    if (in_string_) {
      Keep(c);
    } else {
      at_ = At::kFinished;
    }
  } else if (at_ == At::kColon) {
    at_ = c == ':' ? At::kValue : At::kFinished;
    token_.clear();
    overlong_ = false;
  } else if (c == ',' || c == '}' || c == ']') {
    EndValue();
    at_ = c == ',' ? At::kKey : At::kFinished;
  } else {
    Keep(c);
    in_string_ = c == '"';
    if (c == '{' || c == '[') {
      ++depth_;
      overlong_ = true;
    }
  }
}

void OutlineReader::EndName() {
  name_ = overlong_ ? std::string() : NameOf(token_);
  if (name_ == "method") outline_.call = true;
  if (name_ == "result" || name_ == "error") outline_.response = true;
  at_ = At::kColon;
}

void OutlineReader::EndValue() {
  if (name_ == "id") outline_.id = overlong_ ? std::nullopt : ToRequestId(Meaning(token_));
}

Outline OutlineOf(std::string_view message) {
  OutlineReader reader;
  reader.Read(message);
  return reader.outline();
}

Message NotRead(const Outline& outline, RpcError error) {
  const bool answers = outline.response && !outline.call;
  if (answers && outline.id) return Response{*outline.id, std::unexpected(std::move(error))};
  return Refusal{answers ? std::nullopt : outline.id, std::move(error)};
}

}  // namespace igloo::mcp
