#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>
#include <cstdlib>

#include "base/interrupts.h"
#include "cli/config/settings.h"
#include "cli/env/build_for_use.h"
#include "cli/net/network_monitor.h"
#include "cli/session/repl.h"
#include "service/caller.h"
#include "service/environments.h"
#include "service/flakes.h"
#include "service/programs.h"
#include "service/session_control.h"
#include "session/asio.h"

namespace igloo::cli {
namespace {

namespace asio = boost::asio;
namespace control = service::control;

/// A session of a server.
class ServerTarget : public ReplTarget {
 public:
  explicit ServerTarget(FoundSession session) : found_(std::move(session)) {}

  const std::string& environment() const override { return found_.environment; }
  const std::string& interpreter() const override { return found_.interpreter; }
  const std::string& session() const override { return found_.id; }
  bool stays() const override { return true; }

  Result<control::Ran> Run(control::Run request, const control::Heard& heard) override {
    const CatchInterrupts catching;
    request.session = found_.id;
    IGLOO_ASSIGN(ServerRequest asked, ServerRequest::Send(found_.server, std::move(request)));
    for (;;) {
      IGLOO_ASSIGN(auto message, asked.Next());
      if (TakeInterrupt()) {
        // The answer to the request itself tells what came of it.
        (void)AskServer(found_.server, control::Interrupt{found_.id});
      }
      if (!message) continue;
      if (const auto* progress = std::get_if<control::Progress>(&*message)) {
        heard(*progress);
      } else if (auto* ran = std::get_if<control::Ran>(&std::get<control::Answer>(*message))) {
        return std::move(*ran);
      } else {
        return Fail(Errc::kProtocol, "the server talks nonsense");
      }
    }
  }

 private:
  FoundSession found_;
};

/// A session of this process.
class LocalTarget : public ReplTarget {
 public:
  LocalTarget(backend::Programs programs, std::shared_ptr<const service::Setup> setup,
              std::string environment, std::string interpreter)
      : environment_(std::move(environment)), interpreter_(std::move(interpreter)) {
    auto options = MonitoredRunner(programs, setup->config().audit, [](std::string_view) {});
    runner_ = std::make_unique<service::Runner>(loop_, std::move(programs), std::move(options));
    sessions_ = std::make_unique<service::Sessions>(
        loop_, *runner_, service::SessionLimits{.most = 1, .idle = kForever, .lifetime = kForever});
    control_.emplace(*sessions_, [setup] { return setup; });
  }
  ~LocalTarget() override {
    sessions_->Close();
    runner_->Close();
  }

  const std::string& environment() const override { return environment_; }
  const std::string& interpreter() const override { return interpreter_; }
  const std::string& session() const override { return name_; }
  bool stays() const override { return false; }

  Result<control::Ran> Run(control::Run request, const control::Heard& heard) override {
    request.session = name_;
    request.environment = environment_;
    struct sigaction before{};
    ::sigaction(SIGINT, nullptr, &before);
    asio::signal_set interrupts(loop_, SIGINT);
    asio::co_spawn(loop_, WatchInterrupts(interrupts), asio::detached);
    Result<control::Ran> ran = Fail(Errc::kInternal, "the session did not answer");
    asio::co_spawn(loop_, control_->Run(std::move(request), {}, heard),
                   [&](const std::exception_ptr& thrown, Result<control::Ran> came) {
                     if (!thrown) ran = std::move(came);
                     loop_.stop();
                   });
    loop_.restart();
    loop_.run();
    interrupts.clear();
    // Asio leaves the default behind, and the next Ctrl-C would end igloo.
    ::sigaction(SIGINT, &before, nullptr);
    loop_.restart();
    loop_.poll();
    return ran;
  }

 private:
  static constexpr std::chrono::hours kForever{24 * 365};

  asio::awaitable<void> WatchInterrupts(asio::signal_set& interrupts) {
    for (;;) {
      boost::system::error_code error;
      auto token = asio::redirect_error(asio::use_awaitable, error);
      co_await interrupts.async_wait(token);
      if (error) co_return;
      (void)sessions_->Interrupt(name_);
    }
  }

  std::string environment_, interpreter_;
  std::string name_ = "repl";
  // The order matters: what runs on the loop refers to what stands above it.
  std::unique_ptr<service::Runner> runner_ = {};
  std::unique_ptr<service::Sessions> sessions_ = {};
  std::optional<service::SessionControl> control_ = {};
  asio::io_context loop_{1};
};

}  // namespace

std::unique_ptr<ReplTarget> AttachTo(const FoundSession& session) {
  return std::make_unique<ServerTarget>(session);
}

Result<std::unique_ptr<ReplTarget>> BeginAlone(const ParsedArgs& args,
                                               const std::string& environment, Console& console) {
  IGLOO_ASSIGN(auto programs, service::FindPrograms());
  IGLOO_ASSIGN(config::Config config, ReadConfig(args, ProjectUse::kShow, console));
  IGLOO_TRY(BuildForUse(config, environment, console));
  auto setup = std::make_shared<const service::Setup>(std::move(config), service::ReadEnvironments,
                                                      service::TheCaller());
  IGLOO_ASSIGN(const service::Order order, setup->OrderFor({}, environment, {}));
  const std::string interpreter(service::InterpreterOf(order.where));
  const service::Offered* offered = setup->Find(environment);
  if (offered == nullptr || interpreter.empty()) {
    return Fail(Errc::kFailedPrecondition, "environment '" + environment + "' has no sessions",
                "use another one; 'igloo shell' works in all");
  }
  std::string name = offered->name;
  return std::make_unique<LocalTarget>(std::move(programs), std::move(setup), std::move(name),
                                       interpreter);
}

}  // namespace igloo::cli
