#include "cli/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <map>
#include <set>
#include <thread>

#include "base/descriptors.h"
#include "base/text.h"
#include "cli/builder.h"
#include "cli/call_log.h"
#include "cli/caller.h"
#include "cli/environments.h"
#include "cli/network_desk.h"
#include "cli/principal.h"
#include "cli/programs.h"
#include "cli/sandbox_images.h"
#include "cli/secret_reader.h"
#include "cli/settings.h"
#include "cli/weaker.h"
#include "mcp/stdio.h"
#include "session/asio.h"
#include "tools/control_socket.h"
#include "watch/watch.h"

namespace igloo::cli {

namespace asio = boost::asio;

namespace {

std::size_t RunsAtOnce() {
  return std::clamp<std::size_t>(2 * std::size_t{std::thread::hardware_concurrency()}, 4, 32);
}

/// So that reading a file back fits into one answer.
constexpr std::uint64_t kMostOfAFile = 4U << 20;

std::string Line(const Error& error) {
  return error.hint.empty() ? error.what : error.what + "; " + error.hint;
}

/// Whether somebody named it or made it. What the host has no programs for,
/// and what nobody has pulled, is no news to anybody.
bool AskedFor(const std::string& name, const config::Config& config,
              const std::vector<environment::Listing>& rows) {
  if (config.environments.contains(name)) return true;
  const auto row = std::ranges::find(rows, name, &environment::Listing::name);
  if (row == rows.end() || row->provider == "host") return false;
  const auto presets = PresetNames();
  return row->provider != "image" || std::ranges::find(presets, name) == presets.end();
}

/// Everything of a server that lives as long as it does. The members' order matters: what runs on
/// the loop refers to what stands above it.
class Server {
 public:
  Server(Serving serving, backend::Programs programs, Console& console)
      : console_(console), serving_(std::move(serving)) {
    if (!serving_.say) serving_.say = [&](std::string_view text) { console_.Note(text); };
    begun_with_ = ReadDaemon(serving_.args);
    level_ = serving_.level.value_or(WantedLevel(begun_with_));
    const auto from = [this, say = serving_.say](LogLevel least) {
      return [this, say, least](std::string_view text) {
        if (level_ >= least) say(text);
      };
    };
    inform_ = from(LogLevel::kInfo);
    detail_ = from(LogLevel::kDebug);
    serving_.say = from(LogLevel::kWarn);
    tools::Runner::Options running{.at_once = RunsAtOnce(),
                                   .left = {.file_bytes = kMostOfAFile},
                                   .note = [this](std::string_view text) { serving_.say(text); },
                                   .proxy = ProxyFor(programs)};
    running.proxy.record = [this](const network::Record& record) {
      if (decisions_) decisions_->Add(record);
      // Who is refused something can be allowed it.
      OpenControl();
    };
    runner_ = std::make_unique<tools::Runner>(loop_, std::move(programs), std::move(running));
    MakePrincipals();
    std::vector<tools::Sessions*> sessions;
    for (const auto& each : principals_) sessions.push_back(&each->sessions());
    control_.emplace(
        std::move(sessions), [this] { return service().Current(); },
        tools::AllowIn(runner_->proxy()));
    // With the first session, so that a client that only looks leaves nothing behind.
    for (const auto& each : principals_) each->sessions().OnBegun([this] { OpenControl(); });
    builder_.emplace(loop_,
                     Builder::Events{.done = [this] { Reload(); },
                                     .say = [this](std::string_view text) { serving_.say(text); }});
    for (const auto& each : principals_) cores_.push_back(each->MakeCore(loop_));
  }
  ~Server() {
    for (const auto& each : principals_) each->sessions().Close();
    runner_->Close();
  }

  Result<void> Run() {
    // What is weaker here comes before everything else.
    const HostSupport support = LookAtSupport(runner_->cgroups(), runner_->expected_ids());
    for (const auto& each : WeaknessLines(support)) serving_.say(each);
    for (const std::string& each : serving_.notes) serving_.say(each);
    asio::signal_set ending(loop_, SIGTERM, SIGINT);
    ending.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) loop_.stop();
    });
    asio::signal_set reloading(loop_, SIGHUP);
    asio::co_spawn(loop_, ReloadOn(reloading), asio::detached);
    Watch();
    if (const auto setup = service().Current()) {
      builder_->Consider((*setup)->config(), serving_.args);
    }
    return serving_.http ? ServeHttp() : ServePipe();
  }

 private:
  /// One for each token; the first one's service reads the configuration for all.
  void MakePrincipals() {
    const std::size_t count = std::max<std::size_t>(serving_.tokens.size(), 1);
    for (std::size_t i = 0; i < count; ++i) {
      principals_.push_back(std::make_unique<Principal>(
          loop_, *runner_,
          Principal::Parts{
              .owner = {.principal = i < serving_.tokens.size() ? serving_.tokens[i].label : ""},
              .face = serving_.face,
              .contracts = serving_.contracts,
              .making = MakingOf(),
              .load = [this, i] { return i == 0 ? Load() : service().Current(); },
              .observe =
                  [this](const tools::Trace& trace) {
                    calls_.Add(trace);
                    detail_(CallLine(trace));
                  },
              .note = [this](std::string_view text) { serving_.say(text); }}));
    }
  }
  tools::ToolService& service() { return principals_.front()->service(); }

  /// How calls wait for what Nix builds.
  tools::Making MakingOf() {
    return {.wait = [this](std::string name, std::function<void(std::string_view)> said,
                           mcp::Cancellation cancellation) -> asio::awaitable<void> {
              const auto setup = service().Current();
              std::string made = setup ? config::Canonical((*setup)->config(), name) : name;
              co_await builder_->Wait(std::move(made), std::move(said), std::move(cancellation));
            },
            .secrets =
                [this](std::shared_ptr<const tools::Setup> setup, std::string name,
                       mcp::Cancellation cancellation) {
                  return secret_reader_.Wait(std::move(setup), std::move(name),
                                             std::move(cancellation));
                },
            .setup =
                [this] {
                  const auto setup = service().Current();
                  return setup ? *setup : tools::Setup::Nothing();
                }};
  }

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
    mcp::StdioServer server(loop_, cores_.front(), std::move(input), std::move(output));
    asio::co_spawn(loop_, server.Serve(), [this](const std::exception_ptr&) { loop_.stop(); });
    loop_.run();
    return {};
  }

  Result<void> ServeHttp() {
    std::vector<mcp::HttpPrincipal> principals;
    for (std::size_t i = 0; i < cores_.size(); ++i) {
      principals.push_back({i < serving_.tokens.size() ? serving_.tokens[i].token : "", cores_[i]});
    }
    mcp::HttpServer server(loop_, std::move(principals), *serving_.http);
    IGLOO_ASSIGN(const std::uint16_t port, server.Listen());
    mcp::HttpAddress address = serving_.http->address;
    if (auto* tcp = std::get_if<mcp::TcpAddress>(&address)) {
      tcp->port = port;
      inform_(fmt::format("serving MCP at http://{}{}", ToText(address), serving_.http->path));
    } else {
      inform_("serving MCP at " + ToText(address));
    }
    asio::co_spawn(loop_, server.Serve(), asio::detached);
    loop_.run();
    // It takes its socket's name away.
    server.Stop();
    return {};
  }

  Result<std::shared_ptr<const tools::Setup>> Load() {
    // Before it is read: what is written meanwhile is the next change.
    std::string stamp = StampOf(ConfigurationFiles(serving_.args));
    std::set<std::string> remarks;
    IGLOO_ASSIGN(config::Config config, ReadConfig(serving_.args, ProjectUse::kShow, console_));
    if (serving_.adapt) serving_.adapt(config);
    level_ = serving_.level.value_or(WantedLevel(config.daemon));
    if (config.daemon.transport != begun_with_.transport ||
        config.daemon.listen != begun_with_.listen) {
      remarks.insert("'transport' and 'listen' in [daemon] count when the server is started again");
    }
    // Before anything else is read, so that no change is missed.
    const Sandboxes sandboxes =
        serving_.sandboxes ? serving_.sandboxes(config) : Sandboxes::kIgnore;
    Follow(SourcesOf(serving_.args, config, sandboxes));
    stamp += StampOf(OtherConfigurationFiles(config, sandboxes));
    config::SandboxScan scan;
    if (sandboxes == Sandboxes::kServe) {
      IGLOO_ASSIGN(const auto own, config::LoadSandboxMcpConfig(ReadVariables()));
      scan = config::ScanSandboxes(own.sandboxes_path);
      AddSandboxImages(scan, config);
      remarks.insert(scan.notes.begin(), scan.notes.end());
      for (const config::SandboxProblem& each : scan.problems) remarks.insert(Line(each.error));
    }
    calls_.Set(config.audit);
    decisions_ = OpenNetworkLog(config.audit, serving_.say);
    for (const auto& each : principals_) {
      each->sessions().SetLimits({.most = config.session.most,
                                  .idle = std::chrono::milliseconds(config.session.idle_ms),
                                  .lifetime = std::chrono::milliseconds(config.session.lifetime_ms),
                                  .fork = config.session.fork.value_or(principals_.size() == 1)});
    }
    if (builder_) builder_->Consider(config, serving_.args);
    const auto read = [this](const config::Config& now) {
      return ReadEnvironmentsWith(now, serving_.brought);
    };
    auto setup =
        std::make_shared<tools::Setup>(std::move(config), read, TheCaller(), std::move(scan));
    for (const environment::ArtifactProblem& each : setup->catalogue().problems()) {
      remarks.insert("'" + each.directory + "' is no environment: " + Line(each.error));
    }
    Remark(std::move(remarks));
    TellUnusable(*setup);
    secret_reader_.Begin(setup);
    read_again_ = stamp != stamp_;
    stamp_ = std::move(stamp);
    return setup;
  }

  /// Says what was not said about the configuration before.
  void Remark(std::set<std::string> remarks) {
    for (const std::string& each : remarks) {
      if (!remarks_.contains(each)) serving_.say(Printable(each, Newlines::kKeep));
    }
    remarks_ = std::move(remarks);
  }

  /// Clients see only what can be used: whoever asked for something else hears why, and when that
  /// is over. What is being built may well become usable.
  void TellUnusable(const tools::Setup& setup) {
    const std::vector<environment::Listing> rows = setup.catalogue().List();
    std::map<std::string, std::string> now;
    for (const tools::Unusable& each : setup.unusable()) {
      if (!AskedFor(each.name, setup.config(), rows)) continue;
      const bool awaited = builder_ && builder_->Builds(each.name);
      // Nix's own words may be among it.
      const std::string why = awaited ? "" : Printable(Line(each.why), Newlines::kKeep);
      if (!awaited && unusable_[each.name] != why) {
        serving_.say(fmt::format("environment '{}' cannot be used: {}", each.name, why));
      }
      now.emplace(each.name, why);
    }
    for (const auto& [name, why] : unusable_) {
      const bool ready = !now.contains(name) && setup.Find(name) != nullptr;
      if (ready) inform_(fmt::format("environment '{}' is ready", name));
    }
    unusable_ = std::move(now);
  }

  /// The way by which `igloo session` and `igloo repl` come.
  void OpenControl() {
    if (socket_ || unreachable_) return;
    const auto place = StatePlace();
    if (!place) return;
    auto opened = tools::ControlSocket::Open(loop_, *place, *control_);
    if (opened) {
      socket_ = *std::move(opened);
    } else {
      unreachable_ = true;
      serving_.say("'igloo session' does not see the sessions of this server: " +
                   Line(opened.error()));
    }
  }

  void Follow(std::vector<watch::Watched> sources) {
    if (!watch_) return;
    watch_->Set(std::move(sources));
    const auto& why = watch_->incomplete();
    const std::string text = why ? Line(*why) : "";
    if (why && text != unwatched_) {
      serving_.say("not every change of the configuration is noticed, but SIGHUP is: " + text);
    }
    unwatched_ = text;
  }

  void Watch() {
    auto made = watch::Watch::Make(loop_, ConfigurationFiles(serving_.args));
    if (!made) {
      serving_.say("changes of the configuration are not noticed, but SIGHUP is: " +
                   Line(made.error()));
      return;
    }
    watch_.emplace(*std::move(made));
    asio::co_spawn(loop_, ReloadOnChanges(), asio::detached);
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
      builder_->Forget();
      stamp_.clear();  // whoever asks for it is told that it was done
      Reload();
    }
  }

  void Reload() {
    const auto changed = service().Reload();
    if (!changed) {
      serving_.say("the configuration is broken, and the one before it goes on to count: " +
                   Line(changed.error()));
      return;
    }
    if (read_again_) inform_("the configuration was read again");
    for (std::size_t i = 0; i < cores_.size(); ++i) {
      // The others take what the first one has read.
      const bool other = i == 0 ? *changed : principals_[i]->service().Reload().value_or(false);
      if (other) cores_[i]->Announce(mcp::change::Tools{});
    }
  }

  Console& console_;
  Serving serving_;
  config::DaemonConfig begun_with_ = {};
  LogLevel level_ = LogLevel::kInfo;
  std::function<void(std::string_view)> inform_ = {};  ///< tells of nothing wrong
  std::function<void(std::string_view)> detail_ = {};  ///< for whoever looks into something
  std::string unwatched_ = {};          ///< why not everything is watched, as it was said
  std::set<std::string> remarks_ = {};  ///< about the configuration, as said
  std::map<std::string, std::string> unusable_ = {};  ///< why, as it was said; empty: it is built
  std::string stamp_ = {};                            ///< of the files that were read
  bool read_again_ = false;                           ///< they had changed
  CallLog calls_{[this](std::string_view text) { serving_.say(text); }};
  std::optional<audit::NetworkLog> decisions_ = {};
  std::unique_ptr<tools::Runner> runner_ = {};
  std::vector<std::unique_ptr<Principal>> principals_ = {};  ///< at least one
  std::optional<tools::SessionControl> control_ = {};
  asio::io_context loop_{1};
  SecretReader secret_reader_{loop_, [this](std::string_view text) { serving_.say(text); }};
  std::unique_ptr<tools::ControlSocket> socket_ = {};
  bool unreachable_ = false;  ///< and it was said
  std::optional<watch::Watch> watch_ = {};
  std::optional<Builder> builder_ = {};
  /// One for each principal; shared with the transports and their connections.
  std::vector<std::shared_ptr<mcp::ServerCore>> cores_ = {};
};

}  // namespace

Result<int> Serve(Serving serving, Console& console) {
  IGLOO_ASSIGN(auto programs, FindPrograms());
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
