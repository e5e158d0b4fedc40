#include <fmt/format.h>
#include <signal.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "mcp/http.h"
#include "mcp/stdio.h"
#include "tests/mcp/fixture_service.h"

/// `igloo-mcp-fixture` serves on its standard input and output, `igloo-mcp-fixture PORT` over HTTP.
int main(int argc, char** argv) {
  using namespace igloo::mcp;
  ::signal(SIGPIPE, SIG_IGN);
  fixture::FixtureService service;
  boost::asio::io_context loop(1);
  // The suite counts every single step.
  const ServerOptions options{.progress_interval = std::chrono::milliseconds(0),
                              .legacy_log_level = LogLevel::kInfo};
  const auto core = std::make_shared<ServerCore>(loop.get_executor(), service, options);
  service.AnnounceThrough(core);
  boost::asio::signal_set signals(loop, SIGTERM, SIGINT, SIGHUP);
  signals.async_wait([&](auto, int) { loop.stop(); });
  if (argc > 1) {
    HttpServer server(loop, core,
                      {.address = igloo::http::TcpAddress{
                           .port = static_cast<std::uint16_t>(std::atoi(argv[1]))}});
    const auto port = server.Listen();
    if (!port) {
      fmt::print(stderr, "igloo-mcp-fixture: {}\n", port.error().what);
      return 1;
    }
    fmt::print(stderr, "igloo-mcp-fixture: http://127.0.0.1:{}/mcp\n", *port);
    boost::asio::co_spawn(loop, server.Serve(), boost::asio::detached);
    loop.run();
    return 0;
  }
  StdioServer server(loop, core, igloo::UniqueFd(0), igloo::UniqueFd(1));
  boost::asio::co_spawn(loop, server.Serve(), [&](auto) { loop.stop(); });
  loop.run();
  return 0;
}
