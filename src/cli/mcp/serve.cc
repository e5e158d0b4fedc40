#include "cli/mcp/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>

#include "base/descriptors.h"
#include "base/error_text.h"
#include "base/log.h"
#include "cli/config/settings.h"
#include "cli/doctor/weaker.h"
#include "cli/mcp/log_level.h"
#include "config/load.h"
#include "mcp/http.h"
#include "mcp/stdio.h"
#include "service/application.h"
#include "service/environments.h"
#include "service/network_rules.h"
#include "service/places.h"
#include "service/programs.h"
#include "service/sandbox_images.h"
#include "session/asio.h"
#include "tools/control_socket.h"
#include "tools/endpoint.h"
#include "watch/watch.h"

namespace igloo::cli {

namespace asio = boost::asio;

namespace {

LogLevel LevelOf(Log::Level level) {
  switch (level) {
    case Log::Level::kError:
      return LogLevel::kError;
    case Log::Level::kWarning:
      return LogLevel::kWarn;
    case Log::Level::kInfo:
      return LogLevel::kInfo;
    case Log::Level::kDebug:
      break;
  }
  return LogLevel::kDebug;
}

/// What an igloo that builds environments is told about the configuration.
std::vector<std::string> BuildFlags(const ParsedArgs& args) {
  std::vector<std::string> flags;
  for (const char* flag : {"--config", "--project"}) {
    if (const auto value = args.Get(flag)) flags.insert(flags.end(), {flag, *value});
  }
  return flags;
}

/// How clients, signals, changed files and `igloo session` reach an application.
class Server {
 public:
  Server(Serving serving, backend::Programs programs, Console& console)
      : console_(console),
        serving_(std::move(serving)),
        begun_with_(ReadDaemon(serving_.args)),
        level_(serving_.level.value_or(WantedLevel(begun_with_))) {
    if (!serving_.say) serving_.say = [&](std::string_view text) { console_.Note(text); };
    std::vector<std::string> labels;
    for (const http::Token& token : serving_.tokens) labels.push_back(token.label);
    const service::Setup::ReadCatalogue catalogue = [this](const config::Config& config) {
      return service::ReadEnvironmentsWith(config, serving_.brought);
    };
    application_.emplace(service::Application::Options{.programs = std::move(programs),
                                                       .principals = std::move(labels),
                                                       .read = [this] { return Read(); },
                                                       .catalogue = catalogue,
                                                       .build_flags = BuildFlags(serving_.args),
                                                       .log = log_,
                                                       .built = [this] { Reload(); },
                                                       .reachable = [this] { OpenControl(); }});
    std::vector<service::Sessions*> sessions;
    for (const auto& each : application_->principals()) {
      sessions.push_back(&each->sessions());
      endpoints_.push_back(std::make_unique<tools::Endpoint>(*application_, *each, serving_.face,
                                                             serving_.contracts, warn_));
      cores_.push_back(endpoints_.back()->MakeCore(loop()));
    }
    control_.emplace(
        std::move(sessions), [this] { return application_->setup().Current(); },
        service::AllowIn(application_->runner().proxy()));
  }
  ~Server() { application_->Close(); }

  Result<void> Run() {
    // What is weaker here comes before everything else.
    service::Runner& runner = application_->runner();
    const HostSupport support = LookAtSupport(runner.cgroups(), runner.expected_ids());
    for (const auto& each : WeaknessLines(support)) warn_(each);
    for (const std::string& each : serving_.notes) warn_(each);
    asio::signal_set ending(loop(), SIGTERM, SIGINT);
    ending.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) loop().stop();
    });
    asio::signal_set reloading(loop(), SIGHUP);
    asio::co_spawn(loop(), ReloadOn(reloading), asio::detached);
    Watch();
    application_->BuildMissing();
    // What takes long is made before somebody waits for it.
    for (const auto& each : endpoints_) each->Refresh();
    return serving_.http ? ServeHttp() : ServePipe();
  }

 private:
  asio::io_context& loop() { return application_->loop(); }

  Result<void> ServePipe() {
    if (::isatty(STDIN_FILENO) == 1) {
      inform_(
          "waiting for a client on standard input; 'igloo mcp install CLIENT' sets one up, "
          "Ctrl-D ends this");
    }
    UniqueFd input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    UniqueFd output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!input || !output) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot serve on standard input and output");
    }
    mcp::StdioServer server(loop(), cores_.front(), std::move(input), std::move(output));
    asio::co_spawn(loop(), server.Serve(), [this](const std::exception_ptr&) { loop().stop(); });
    loop().run();
    return {};
  }

  Result<void> ServeHttp() {
    std::vector<mcp::HttpPrincipal> principals;
    for (std::size_t i = 0; i < cores_.size(); ++i) {
      principals.push_back({i < serving_.tokens.size() ? serving_.tokens[i].token : "", cores_[i]});
    }
    serving_.http->log = log_;
    mcp::HttpServer server(loop(), std::move(principals), *serving_.http);
    IGLOO_ASSIGN(const std::uint16_t port, server.Listen());
    http::Address address = serving_.http->address;
    if (auto* tcp = std::get_if<http::TcpAddress>(&address)) {
      tcp->port = port;
      inform_(fmt::format("serving MCP at http://{}{}", ToText(address), serving_.http->path));
    } else {
      inform_("serving MCP at " + ToText(address));
    }
    asio::co_spawn(loop(), server.Serve(), asio::detached);
    loop().run();
    // It takes its socket's name away.
    server.Stop();
    return {};
  }

  Result<service::ReadConfiguration> Read() {
    // Before it is read: what is written meanwhile is the next change.
    std::string stamp = StampOf(ConfigurationFiles(serving_.args));
    service::ReadConfiguration read;
    IGLOO_ASSIGN(read.config, ReadConfig(serving_.args, ProjectUse::kShow, console_));
    config::Config& config = read.config;
    if (serving_.adapt) serving_.adapt(config);
    level_ = serving_.level.value_or(WantedLevel(config.daemon));
    if (config.daemon.transport != begun_with_.transport ||
        config.daemon.listen != begun_with_.listen) {
      read.remarks.insert(
          "'transport' and 'listen' in [daemon] count when the server is started again");
    }
    // Before anything else is read, so that no change is missed.
    const Sandboxes sandboxes =
        serving_.sandboxes ? serving_.sandboxes(config) : Sandboxes::kIgnore;
    Follow(SourcesOf(serving_.args, config, sandboxes));
    stamp += StampOf(OtherConfigurationFiles(config, sandboxes));
    if (sandboxes == Sandboxes::kServe) IGLOO_TRY(ReadSandboxes(read));
    read_again_ = stamp != stamp_;
    stamp_ = std::move(stamp);
    return read;
  }

  /// Those that sandbox-mcp's own files describe.
  static Result<void> ReadSandboxes(service::ReadConfiguration& read) {
    IGLOO_ASSIGN(const auto own, config::LoadSandboxMcpConfig(service::ReadVariables()));
    read.sandboxes = config::ScanSandboxes(own.sandboxes_path);
    service::AddSandboxImages(read.sandboxes, read.config);
    read.remarks.insert(read.sandboxes.notes.begin(), read.sandboxes.notes.end());
    for (const config::SandboxProblem& each : read.sandboxes.problems) {
      read.remarks.insert(InOneLine(each.error));
    }
    return {};
  }

  /// The way by which `igloo session` and `igloo repl` come.
  void OpenControl() {
    if (socket_ || unreachable_) return;
    const auto place = service::StatePlace();
    if (!place) return;
    auto opened = tools::ControlSocket::Open(loop(), *place, *control_);
    if (opened) {
      socket_ = *std::move(opened);
    } else {
      unreachable_ = true;
      warn_("'igloo session' does not see the sessions of this server: " +
            InOneLine(opened.error()));
    }
  }

  void Follow(std::vector<watch::Watched> sources) {
    if (!watch_) return;
    watch_->Set(std::move(sources));
    const auto& why = watch_->incomplete();
    const std::string text = why ? InOneLine(*why) : "";
    if (why && text != unwatched_) {
      warn_("not every change of the configuration is noticed, but SIGHUP is: " + text);
    }
    unwatched_ = text;
  }

  void Watch() {
    auto made = watch::Watch::Make(loop(), ConfigurationFiles(serving_.args));
    if (!made) {
      warn_("changes of the configuration are not noticed, but SIGHUP is: " +
            InOneLine(made.error()));
      return;
    }
    watch_.emplace(*std::move(made));
    asio::co_spawn(loop(), ReloadOnChanges(), asio::detached);
  }

  asio::awaitable<void> ReloadOnChanges() {
    while (co_await watch_->Changed()) Reload();
  }

  asio::awaitable<void> ReloadOn(asio::signal_set& signals) {
    for (;;) {
      boost::system::error_code error;
      auto token = asio::redirect_error(asio::use_awaitable, error);
      co_await signals.async_wait(token);
      if (error) co_return;
      application_->ForgetBuilds();
      stamp_.clear();  // whoever asks for it is told that it was done
      Reload();
    }
  }

  void Reload() {
    if (const auto reloaded = application_->setup().Reload(); !reloaded) {
      warn_("the configuration is broken, and the previous one stays active: " +
            InOneLine(reloaded.error()));
      return;
    }
    if (read_again_) inform_("the configuration was read again");
    for (const auto& each : endpoints_) each->Refresh();
  }

  Console& console_;
  Serving serving_;
  config::DaemonConfig begun_with_;
  LogLevel level_;
  Log log_{[this](Log::Level level, std::string_view text) {
    if (level_ >= LevelOf(level)) serving_.say(text);
  }};
  Log::Line warn_ = log_.At(Log::Level::kWarning), inform_ = log_.At(Log::Level::kInfo);
  std::string unwatched_ = {};  ///< why not everything is watched, as it was said
  std::string stamp_ = {};      ///< of the files that were read
  bool read_again_ = false;     ///< they had changed
  // The order matters: what runs on the application's loop refers to what stands above it.
  std::optional<service::SessionControl> control_ = {};
  std::vector<std::unique_ptr<tools::Endpoint>> endpoints_ = {};  ///< one for each principal
  std::optional<service::Application> application_ = {};
  std::unique_ptr<tools::ControlSocket> socket_ = {};
  bool unreachable_ = false;  ///< and it was said
  std::optional<watch::Watch> watch_ = {};
  /// One for each principal; shared with the transports and their connections.
  std::vector<std::shared_ptr<mcp::ServerCore>> cores_ = {};
};

}  // namespace

Result<int> Serve(Serving serving, Console& console) {
  IGLOO_ASSIGN(auto programs, service::FindPrograms());
  RaiseOpenFiles();  // a session takes eight
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
