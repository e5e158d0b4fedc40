#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace igloo::mcp {

/// The codes that a client branches on.
enum class RpcCode {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kBusy = -32000,  ///< more at once than this server takes
  kHeaderMismatch = -32020,
  kMissingCapability = -32021,
  kUnsupportedVersion = -32022,
};

/// A failure of the protocol. What a tool could not do is a result, not one of these.
struct RpcError {
  RpcCode code = RpcCode::kInternalError;
  std::string message = {};  ///< what is wrong, and what to do next
  std::optional<boost::json::value> data = {};

  bool operator==(const RpcError&) const = default;
};

template <class T>
using Answer = std::expected<T, RpcError>;

[[nodiscard]] std::unexpected<RpcError> Refuse(RpcCode code, std::string message);

/// A number or a text, as the client chose it: `7` and `"7"` are two ids.
struct RequestId {
  std::variant<std::int64_t, std::uint64_t, std::string> value = std::int64_t{0};

  auto operator<=>(const RequestId&) const = default;
};
/// It comes back with every answer, so it must be short.
inline constexpr std::size_t kLongestId = 1024;
/// Empty for what cannot be an id: null, fractions, objects, texts that are too long.
std::optional<RequestId> ToRequestId(const boost::json::value& value);
boost::json::value ToJson(const RequestId& id);

struct Request {
  RequestId id = {};
  std::string method = {};
  boost::json::object params = {};
};

struct Notification {
  std::string method = {};
  boost::json::object params = {};
};

/// A client's answer to a request of the server's.
struct Response {
  RequestId id = {};
  Answer<boost::json::value> result = {};
};

/// What came is none of these: to be answered with `error`.
struct Refusal {
  std::optional<RequestId> id = {};  ///< when the client can tell by it what was refused
  RpcError error = {};
};

using Message = std::variant<Request, Notification, Response, Refusal>;

/// Any bytes are a message or a refusal. Nesting is bounded; batches are refused.
Message DecodeMessage(std::string_view bytes);

/// One message of the server's as one line without its end, valid UTF-8 whatever the strings hold.
std::string EncodeMessage(const boost::json::object& message);

boost::json::object ResultMessage(const RequestId& id, boost::json::object result);
/// Without an id when the client cannot know which message is meant; `null` would be invalid.
boost::json::object ErrorMessage(const std::optional<RequestId>& id, const RpcError& error);
boost::json::object NotificationMessage(std::string_view method, boost::json::object params);
boost::json::object RequestMessage(const RequestId& id, std::string_view method,
                                   boost::json::object params);

}  // namespace igloo::mcp
