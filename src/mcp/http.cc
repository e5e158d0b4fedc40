#include "mcp/http.h"

#include "mcp/http_handler.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;

namespace {

http::Options TransportOf(const HttpOptions& options) {
  return {.address = options.address,
          .hosts = options.hosts,
          .limits = options.limits,
          .single_fields = HeaderNames()};
}

}  // namespace

HttpServer::HttpServer(asio::io_context& loop, std::shared_ptr<ServerCore> core,
                       HttpOptions options)
    : HttpServer(loop, {HttpPrincipal{options.token, std::move(core)}}, options) {}

HttpServer::HttpServer(asio::io_context& loop, std::vector<HttpPrincipal> principals,
                       HttpOptions options)
    : handler_(std::make_shared<HttpHandler>(loop.get_executor(), std::move(principals), options)),
      server_(loop, handler_, TransportOf(options), options.log) {}

HttpServer::~HttpServer() { Stop(); }

Result<std::uint16_t> HttpServer::Listen() {
  IGLOO_TRY(handler_->CheckTokens());
  return server_.Listen();
}

asio::awaitable<void> HttpServer::Serve() { return server_.Serve(); }

void HttpServer::Stop() {
  server_.Stop();
  handler_->EndSessions();
}

}  // namespace igloo::mcp
