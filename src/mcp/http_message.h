#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mcp/http_rules.h"

namespace igloo::mcp {

/// A request before its body.
struct HttpHead {
  std::string method = {};
  std::string target = {};  ///< the path and what follows
  HttpHeaders headers = {};
  unsigned version = 11;  ///< 11: HTTP/1.1
  bool keep_alive = false;
  bool expects_continue = false;  ///< the body comes only when it is asked for
};

struct HttpResponse {
  unsigned status = 200;
  std::string body = {};  ///< JSON, or nothing
  std::vector<std::pair<std::string, std::string>> fields = {};
};

/// Why nothing more can be read; with the status 0 there is nobody to tell it to.
struct HttpFailure {
  unsigned status = 0;
  std::string message = {};
};

/// Reads one request from bytes as they come: first its head, then its body. Both are bounded.
class HttpParser {
 public:
  HttpParser(std::size_t longest_head, std::size_t longest_body);
  ~HttpParser();

  /// Takes what it can from the front of `bytes`; empty until there is enough.
  std::expected<std::optional<HttpHead>, HttpFailure> Head(std::string& bytes);
  /// Once the head is there.
  std::expected<std::optional<std::string>, HttpFailure> Body(std::string& bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

enum class After { kKeepOpen, kClose };
/// All of a response but its body, which may be large and is sent from where it is.
std::string ResponseHead(const HttpResponse& response, After after);
/// The head of a stream of events, and the parts of one event of it; without text it only shows
/// that it lives.
std::string EventsHead(After after);
std::vector<std::string> EventChunk(std::string message);
std::string EventsEnd();

}  // namespace igloo::mcp
