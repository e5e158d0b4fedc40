#include "cli/serve.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <cstdlib>
#include <thread>

#include "base/file.h"
#include "cli/environments.h"
#include "cli/programs.h"
#include "cli/settings.h"
#include "mcp/stdio.h"
#include "session/asio.h"

namespace igloo::cli {

namespace asio = boost::asio;

namespace {

std::size_t RunsAtOnce() {
  return std::clamp<std::size_t>(2 * std::size_t{std::thread::hardware_concurrency()}, 4, 32);
}

/// Everything of a server that lives as long as it does. The members' order matters: what runs on
/// the loop refers to what stands above it.
class Server {
 public:
  Server(Serving serving, backend::jail::Programs programs, Console& console)
      : console_(console), transport_(std::move(serving.transport)) {
    runner_ = std::make_unique<tools::Runner>(
        loop_, std::move(programs),
        tools::Runner::Options{.at_once = RunsAtOnce(), .left = {.file_bytes = 4U << 20}});
    tools::ToolService::Parts parts{.face = std::move(serving.face),
                                    .contracts = serving.contracts({*runner_, store_}),
                                    .load = std::move(serving.load),
                                    .kept = [this] { core_->Announce(mcp::change::Resources{}); }};
    service_ = std::make_unique<tools::ToolService>(std::move(parts), store_);
    core_ = std::make_shared<mcp::ServerCore>(loop_.get_executor(), *service_,
                                              mcp::ServerOptions{.most_calls = 2048});
  }
  ~Server() { runner_->Close(); }

  Result<void> Run() {
    asio::signal_set ending(loop_, SIGTERM, SIGINT);
    ending.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) loop_.stop();
    });
    asio::signal_set reloading(loop_, SIGHUP);
    asio::co_spawn(loop_, ReloadOn(reloading), asio::detached);
    if (transport_.http) {
      IGLOO_TRY(ServeHttp());
    } else {
      IGLOO_TRY(ServePipe());
    }
    return {};
  }

 private:
  Result<void> ServePipe() {
    UniqueFd input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    UniqueFd output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!input || !output) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot serve on standard input and output");
    }
    mcp::StdioServer server(loop_, core_, std::move(input), std::move(output));
    asio::co_spawn(loop_, server.Serve(), [this](const std::exception_ptr&) { loop_.stop(); });
    loop_.run();
    return {};
  }

  Result<void> ServeHttp() {
    mcp::HttpServer server(loop_, core_, *transport_.http);
    IGLOO_ASSIGN(const std::uint16_t port, server.Listen());
    console_.Note(fmt::format("serving MCP at http://{}:{}{}", transport_.http->address, port,
                              transport_.http->path));
    asio::co_spawn(loop_, server.Serve(), asio::detached);
    loop_.run();
    return {};
  }

  asio::awaitable<void> ReloadOn(asio::signal_set& signals) {
    for (;;) {
      boost::system::error_code error;
      auto token = asio::redirect_error(asio::use_awaitable, error);
      co_await signals.async_wait(token);
      if (error) co_return;
      Reload();
    }
  }

  void Reload() {
    const auto changed = service_->Reload();
    if (!changed) {
      console_.Note("the configuration is broken, and the one before it goes on to count:");
      console_.Report(changed.error());
      return;
    }
    console_.Note("the configuration was read again");
    if (*changed) core_->Announce(mcp::change::Tools{});
  }

  Console& console_;
  Transport transport_;
  tools::Store store_ = {};
  std::unique_ptr<tools::Runner> runner_ = {};
  std::unique_ptr<tools::ToolService> service_ = {};
  asio::io_context loop_{1};
  std::shared_ptr<mcp::ServerCore> core_ = {};  // shared with the transports and their connections
};

}  // namespace

tools::ToolService::Load LoadFor(const ParsedArgs& args, Console& console) {
  return [args, &console]() -> Result<std::shared_ptr<const tools::Setup>> {
    IGLOO_ASSIGN(config::Config config, ReadConfig(args, ProjectUse::kShow, console));
    const auto lookup = [](const std::string& name) -> std::optional<std::string> {
      const char* value = std::getenv(name.c_str());
      return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
    return std::make_shared<tools::Setup>(std::move(config), ReadEnvironments, lookup);
  };
}

Result<int> Serve(Serving serving, Console& console) {
  IGLOO_ASSIGN(auto programs, FindPrograms());
  try {
    Server server(std::move(serving), std::move(programs), console);
    IGLOO_TRY(server.Run());
  } catch (const std::exception& failure) {
    return Fail(Errc::kExhausted, std::string("cannot run the event loop: ") + failure.what(),
                kRaiseOpenFiles);
  }
  return 0;
}

}  // namespace igloo::cli
