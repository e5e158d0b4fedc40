#include "mcp/json_rpc.h"

#include <fmt/format.h>

#include <charconv>

#include "base/overloaded.h"
#include "base/text.h"
#include "mcp/channel.h"
#include "mcp/outline.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace json = boost::json;

namespace {

/// Deeper than any schema or argument; small enough for every recursion over a value.
constexpr std::size_t kDeepest = 64;

Refusal Invalid(std::optional<RequestId> id, std::string message) {
  return {std::move(id), {RpcCode::kInvalidRequest, std::move(message), {}}};
}

RpcError Unreadable(const boost::system::error_code& error) {
  if (error == json::error::too_deep) {
    return {RpcCode::kInvalidRequest,
            fmt::format("the message is nested deeper than {} levels", kDeepest),
            {}};
  }
  return {RpcCode::kParseError,
          fmt::format("the message is not JSON in UTF-8 ({}); send one JSON object per line",
                      error.message()),
          {}};
}

/// The code unit of an escape like \ud800 at the beginning of `text`, if one is there.
std::optional<unsigned> CodeUnit(std::string_view text) {
  constexpr std::size_t kEscape = 6;
  if (text.size() < kEscape || !text.starts_with("\\u")) return {};
  unsigned unit = 0;
  const char* end = text.data() + kEscape;
  const auto [stop, error] = std::from_chars(text.data() + 2, end, unit, 16);
  return error == std::errc() && stop == end ? std::optional(unit) : std::nullopt;
}

/// JavaScript writes half of a surrogate pair, which is what is left of a character that was cut in
/// two, as an escape that stands for no character. Each becomes U+FFFD; true when there was one.
bool MendSurrogates(std::string& text) {
  const auto is_first = [](std::optional<unsigned> unit) { return unit && *unit >> 10U == 0x36; };
  const auto is_second = [](std::optional<unsigned> unit) { return unit && *unit >> 10U == 0x37; };
  bool mended = false;
  std::size_t at = 0;
  while ((at = text.find('\\', at)) != std::string::npos) {
    const std::string_view rest = std::string_view(text).substr(at);
    const std::optional<unsigned> unit = CodeUnit(rest);
    if (!unit) {
      at += 2;  // whatever is escaped, it begins no escape
    } else if (is_first(unit) && is_second(CodeUnit(rest.substr(6)))) {
      at += 12;
    } else {
      if (is_first(unit) || is_second(unit)) {
        text.replace(at, 6, "\\ufffd");
        mended = true;
      }
      at += 6;
    }
  }
  return mended;
}

/// Of several members with one name, the last one counts, as in JavaScript and Python.
json::value Parse(std::string_view bytes, boost::system::error_code& error) {
  json::parse_options options;
  options.max_depth = kDeepest;
  // Numbers have at most a few dozen digits in earnest; the parser's own memory starts small.
  json::parser parser({}, options);
  parser.write(bytes.data(), bytes.size(), error);
  return error ? json::value() : parser.release();
}

Message DecodeCall(json::object& object, const json::value* id_value, std::optional<RequestId> id) {
  const json::string* method = object["method"].if_string();
  if (method == nullptr || method->empty()) {
    return Invalid(std::move(id), "'method' must be a text that is not empty");
  }
  json::object params;
  json::value* given = object.if_contains("params");
  const bool usable = given == nullptr || given->is_object();
  if (given != nullptr && usable) params = std::move(given->get_object());
  // A notification is never answered, not even one that makes no sense.
  if (id_value == nullptr) return Notification{std::string(*method), std::move(params)};
  if (!id) {
    return Invalid(
        {}, fmt::format("'id' must be a whole number or a text of at most {} bytes", kLongestId));
  }
  if (!usable) {
    return Refusal{std::move(id),
                   {RpcCode::kInvalidParams, "'params' must be an object with named members", {}}};
  }
  return Request{*std::move(id), std::string(*method), std::move(params)};
}

Message DecodeResponse(json::object& object, std::optional<RequestId> id) {
  if (json::value* result = object.if_contains("result"); result != nullptr && id) {
    return Response{*std::move(id), std::move(*result)};
  }
  const json::value* error = object.if_contains("error");
  const json::object* details = error != nullptr ? error->if_object() : nullptr;
  if (details == nullptr) {
    return Invalid(std::move(id), "the message has neither 'method' nor 'result' nor 'error'");
  }
  // Which request it was about is not known; there is nothing to do about it.
  if (!id) return Notification{"error without id", {}};
  RpcError failure;
  const json::value* code = details->if_contains("code");
  if (code != nullptr && code->is_int64()) {
    failure.code = static_cast<RpcCode>(static_cast<int>(code->get_int64()));
  }
  const json::value* text = details->if_contains("message");
  if (text != nullptr && text->is_string()) failure.message = std::string(text->get_string());
  return Response{*std::move(id), std::unexpected(std::move(failure))};
}

}  // namespace

std::unexpected<RpcError> Refuse(RpcCode code, std::string message) {
  return std::unexpected(RpcError{code, std::move(message), {}});
}

std::optional<RequestId> ToRequestId(const json::value& value) {
  if (const std::int64_t* number = value.if_int64()) return RequestId{*number};
  if (const std::uint64_t* number = value.if_uint64()) return RequestId{*number};
  const json::string* text = value.if_string();
  if (text != nullptr && text->size() <= kLongestId) return RequestId{std::string(*text)};
  return {};
}

json::value ToJson(const RequestId& id) {
  return std::visit(Overloaded{[](const std::string& text) { return json::value(text); },
                               [](auto number) { return json::value(number); }},
                    id.value);
}

Message DecodeMessage(std::string_view bytes) {
  boost::system::error_code error;
  json::value value = Parse(bytes, error);
  if (error) {
    // Only now: hardly any message needs it.
    std::string mended(bytes);
    if (MendSurrogates(mended)) value = Parse(mended, error);
  }
  if (error) return NotRead(OutlineOf(bytes), Unreadable(error));
  if (value.is_array()) {
    return Invalid({}, "batches are not served; send every message on a line of its own");
  }
  json::object* object = value.if_object();
  if (object == nullptr) return Invalid({}, "a message is a JSON object");
  const json::value* id_value = object->if_contains("id");
  std::optional<RequestId> id = id_value != nullptr ? ToRequestId(*id_value) : std::nullopt;
  const json::value* version = object->if_contains("jsonrpc");
  if (version == nullptr || *version != "2.0") {
    return NotRead(OutlineOf(bytes), {RpcCode::kInvalidRequest, "'jsonrpc' must be \"2.0\"", {}});
  }
  if (object->contains("method")) return DecodeCall(*object, id_value, std::move(id));
  return DecodeResponse(*object, std::move(id));
}

std::string EncodeMessage(const json::object& message) {
  // Services pass on names and output of programs: a byte that is not UTF-8 would make the whole
  // line unreadable, so the last word on it is spoken here.
  std::string text = json::serialize(message);
  return IsUtf8(text) ? text : ToUtf8(text);
}

Outgoing Pack(const json::object& message) {
  Outgoing packed{.text = EncodeMessage(message), .answer = message.contains("result")};
  if (const json::value* error = message.if_contains("error")) {
    packed.answer = true;
    packed.error = static_cast<RpcCode>(error->as_object().at("code").as_int64());
  }
  return packed;
}

Outgoing PackError(const std::optional<RequestId>& id, const RpcError& error, std::size_t limit) {
  Outgoing packed = Pack(ErrorMessage(id, error));
  if (packed.text.size() <= limit) return packed;
  constexpr std::size_t kMostWords = 1000;
  return Pack(ErrorMessage(id, {error.code, Quoted(error.message, kMostWords), {}}));
}

Outgoing PackResult(const RequestId& id, std::string_view result) {
  return {.text = fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})",
                              json::serialize(ToJson(id)), result),
          .answer = true};
}

json::object ResultMessage(const RequestId& id, json::object result) {
  return {{"jsonrpc", "2.0"}, {"id", ToJson(id)}, {"result", std::move(result)}};
}

json::object ErrorMessage(const std::optional<RequestId>& id, const RpcError& error) {
  json::object details{{"code", static_cast<int>(error.code)}, {"message", error.message}};
  if (error.data) details["data"] = *error.data;
  json::object message{{"jsonrpc", "2.0"}};
  if (id) message["id"] = ToJson(*id);
  message["error"] = std::move(details);
  return message;
}

json::object NotificationMessage(std::string_view method, json::object params) {
  json::object message{{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.empty()) message["params"] = std::move(params);
  return message;
}

json::object RequestMessage(const RequestId& id, std::string_view method, json::object params) {
  return {
      {"jsonrpc", "2.0"}, {"id", ToJson(id)}, {"method", method}, {"params", std::move(params)}};
}

}  // namespace igloo::mcp
