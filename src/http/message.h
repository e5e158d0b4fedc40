#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/fields.h"

namespace igloo::http {

inline constexpr unsigned kVersion11 = 11;

/// A request before its body.
struct Head {
  std::string method = {};
  std::string target = {};  ///< the path and what follows
  /// Whom the request is for, with a port: what the target names, or else the field Host.
  std::string host = {};
  Fields fields = {};  ///< all of them, as they came
  unsigned version = kVersion11;
  bool keep_alive = false;
  bool expects_continue = false;  ///< the body comes only when it is asked for

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
};

struct Response {
  unsigned status = 200;
  std::string body = {};
  std::string type = "application/json";  ///< of the body, if it has one
  Fields fields = {};
};

/// One event of a stream.
struct Event {
  std::string name = "message";
  std::string data = {};  ///< one line; without it, the event only shows that the stream lives
  bool last = false;      ///< the stream ends with it
};

/// Why nothing more can be read; with the status 0 there is nobody to tell it to.
struct Failure {
  unsigned status = 0;
  std::string message = {};
};

/// Reads one request from bytes as they come: first its head, then its body. Both are bounded.
class Parser {
 public:
  /// A request that has a field twice that decides anything is refused: Host, Origin,
  /// Authorization, Content-Type and those of `single`.
  Parser(std::size_t longest_head, std::size_t longest_body,
         const std::vector<std::string>& single = {});
  ~Parser();

  /// Takes what it can from the front of `bytes`; empty until there is enough.
  std::expected<std::optional<Head>, Failure> ReadHead(std::string& bytes);
  /// Once the head is there.
  std::expected<std::optional<std::string>, Failure> ReadBody(std::string& bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

enum class After { kKeepOpen, kClose };
/// All of a response but its body, which may be large and is sent from where it is. It tells
/// browsers to keep nothing and to run nothing, where its own fields do not say otherwise.
std::string ResponseHead(const Response& response, After after);
/// The head of a stream of events, the parts of one event of it, and its end.
std::string EventsHead(After after);
std::vector<std::string> EventChunk(Event event);
std::string EventsEnd();
/// The head after which a connection speaks the protocol that `fields` name.
std::string UpgradeHead(const Fields& fields);

}  // namespace igloo::http
