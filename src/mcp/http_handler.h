#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/handler.h"
#include "mcp/http.h"
#include "mcp/http_exchange.h"
#include "mcp/http_rules.h"
#include "mcp/http_sessions.h"

namespace igloo::mcp {

/// The clients of one principal. SECURITY: what one of them may name (sessions, tasks, resources)
/// is looked for here and in this core only.
struct HttpClients {
  std::string token;
  std::shared_ptr<ServerCore> core;  // shared with other transports
  HttpSessions sessions;
};

/// Answers the requests of an HTTP server with what the protocol says. One thread.
class HttpHandler : public http::Handler {
 public:
  HttpHandler(boost::asio::any_io_executor executor, std::vector<HttpPrincipal> principals,
              HttpOptions options);

  std::optional<http::Response> Refuse(const http::Head& head) override;
  boost::asio::awaitable<void> Serve(http::Request request, http::Responder& responder) override;
  http::Response Explain(const http::Failure& failure) override;

  /// Whether strangers are kept out wherever they could come from.
  Result<void> CheckTokens() const;
  void EndSessions();

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;
  struct Posted;

  /// Whose token this is; null for a stranger.
  HttpClients* Find(std::string_view authorization);
  /// A message that can be served, or the response that says why not.
  std::expected<Posted, http::Response> Read(HttpClients& who, const HttpHeaders& headers,
                                             std::string_view body);
  Awaitable<void> Answer(HttpClients& who, Posted posted, http::Responder& responder);
  Awaitable<void> HearChanges(HttpClients& who, std::string session, http::Responder& responder);
  Awaitable<void> Stream(std::shared_ptr<HttpExchange> exchange, std::optional<Outgoing> first,
                         http::Responder& responder);
  bool full() const { return streams_ >= options_.most_streams; }

  boost::asio::any_io_executor executor_;
  HttpOptions options_;
  std::vector<HttpClients> clients_ = {};  ///< INVARIANT: none is added or removed
  std::size_t streams_ = 0;                ///< that wait for changes now
};

}  // namespace igloo::mcp
