// What bin/session-run of an artifact becomes: one session over pipes, as nix-sandbox-mcp's daemon
// speaks to the agent that it starts.

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "cli/mcp/serve.h"
#include "cli/net/network_monitor.h"
#include "cli/session/agent_protocol.h"
#include "language/language.h"
#include "service/caller.h"
#include "service/environments.h"
#include "service/programs.h"
#include "service/sessions.h"
#include "session/asio.h"
#include "tools/render.h"

namespace igloo::cli {
namespace {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

constexpr std::size_t kReadSize = 64U << 10;
constexpr const char* kSession = "agent";

class Agent {
 public:
  Agent(backend::Programs programs, std::shared_ptr<const service::Setup> setup,
        const service::Offered& offered, std::string language, Console& console)
      : console_(console),
        setup_(std::move(setup)),
        offered_(offered),
        language_(std::move(language)) {
    auto options = MonitoredRunner(programs, setup_->config().audit,
                                   [this](std::string_view text) { console_.Note(text); });
    runner_ = std::make_unique<service::Runner>(loop_, std::move(programs), std::move(options));
    sessions_ = std::make_unique<service::Sessions>(
        loop_, *runner_, service::SessionLimits{.most = 1, .idle = kForever, .lifetime = kForever});
  }
  ~Agent() {
    sessions_->Close();
    runner_->Close();
  }

  /// Until its input ends, or somebody wants it to.
  Result<void> Serve(UniqueFd input) {
    asio::signal_set ending(loop_, SIGTERM, SIGINT);
    ending.async_wait([this](const boost::system::error_code& error, int) {
      if (!error) loop_.stop();
    });
    input_.assign(input.Release());
    Send(AgentReady());
    asio::co_spawn(loop_, Read(), [this](const std::exception_ptr&) { loop_.stop(); });
    loop_.run();
    return outcome_;
  }

 private:
  static constexpr std::chrono::hours kForever{24 * 365};

  void Send(const std::string& message) {
    // Whoever does not read gets nothing more, and cannot ask for more.
    if (!WriteAll(STDOUT_FILENO, FrameFor(message))) loop_.stop();
  }

  asio::awaitable<void> Read() {
    AgentFrames frames;
    std::string buffer(kReadSize, '\0');
    for (;;) {
      boost::system::error_code error;
      co_await input_.async_wait(stream_descriptor::wait_read, session::Redirect(error));
      // Files cannot be watched, and need not be.
      if (error && error != asio::error::operation_not_supported) co_return;
      const ssize_t count = ::read(input_.native_handle(), buffer.data(), buffer.size());
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) break;
      frames.Add({buffer.data(), static_cast<std::size_t>(count)});
      if (!Take(frames)) co_return;
    }
    // Whoever wrote all of it at once still gets the answers.
    end_when_idle_ = true;
    if (running_ > 0) {
      asio::steady_timer forever(loop_, kForever);
      boost::system::error_code ignored;
      co_await forever.async_wait(session::Redirect(ignored));
    }
  }

  /// False when it is to end.
  bool Take(AgentFrames& frames) {
    for (;;) {
      auto message = frames.Next();
      if (!message) {
        Send(AgentError("Bad message: " + message.error().what));
        outcome_ = std::unexpected(std::move(message).error());
        return false;
      }
      if (!*message) return true;
      AgentRequest request = ParseAgentRequest(**message);
      if (std::holds_alternative<AgentShutdown>(request)) return false;
      if (std::holds_alternative<AgentPing>(request)) Send(AgentPong());
      if (const auto* misuse = std::get_if<AgentMisuse>(&request)) Send(AgentError(misuse->answer));
      if (auto* execute = std::get_if<AgentExecute>(&request)) Begin(std::move(*execute));
    }
  }

  /// What an interpreter that is not this one's is answered.
  std::optional<std::string> Refusal(const std::string& interpreter) const {
    if (language_.empty() || interpreter == language_) return std::nullopt;
    if (!language::IsInterpreterType(interpreter)) {
      return "Error: unknown interpreter '" + Quoted(interpreter) +
             "'. Valid: bash, node, python\n";
    }
    return "Error: this session is one of " + language_ + ", not of " + interpreter + "\n";
  }

  /// Calls follow each other; a ping is answered meanwhile.
  void Begin(AgentExecute execute) {
    if (auto refusal = Refusal(execute.interpreter)) {
      Send(EncodeAgentResult({.id = execute.id, .err = *std::move(refusal), .exit_code = 1}));
      return;
    }
    ++running_;
    asio::co_spawn(loop_, Execute(std::move(execute)), [this](const std::exception_ptr& thrown) {
      if (thrown) Send(AgentError("Agent internal error: the call could not be made"));
      if (--running_ == 0 && end_when_idle_) loop_.stop();
    });
  }

  asio::awaitable<void> Execute(AgentExecute execute) {
    service::Sessions::Asked asked{.id = kSession, .code = std::move(execute.code), .echo = false};
    const Cancellation never;
    service::Listener listener;
    auto finished =
        co_await sessions_->Execute(std::move(asked), offered_, setup_, never, std::move(listener));
    if (!finished) {
      Send(AgentError("Agent internal error: " + finished.error().what));
      co_return;
    }
    for (const std::string& note : finished->notes) console_.Note(note);
    AgentResult result{.id = std::move(execute.id),
                       .out = finished->late_output + finished->run.output.kept(),
                       .err = finished->late_error + finished->run.error.kept(),
                       .exit_code = finished->run.exit_code};
    if (finished->run.verdict == session::Verdict::kTimeout) {
      result.err +=
          "Execution timed out after " + std::to_string(finished->time_limit_ms / 1000) + "s\n";
    } else if (tools::EndedFromOutside(finished->run.verdict)) {
      result.err += tools::HowItEnded(*finished) + "\n";
    }
    Send(EncodeAgentResult(result));
  }

  Console& console_;
  std::shared_ptr<const service::Setup> setup_;  // shared with the calls in it
  const service::Offered& offered_;              ///< of setup_
  std::string language_;
  std::size_t running_ = 0;
  bool end_when_idle_ = false;
  Result<void> outcome_ = {};
  // The order matters: what runs on the loop refers to what stands above it.
  std::unique_ptr<service::Runner> runner_ = {};
  std::unique_ptr<service::Sessions> sessions_ = {};
  asio::io_context loop_{1};
  stream_descriptor input_{loop_};
};

Result<int> RunAgent(const ParsedArgs& args, Console& console) {
  const auto directory = args.Get("--artifact");
  if (!directory || !args.words.empty() || args.rest) {
    return Fail(Errc::kInvalidArgument, "it takes the directory of one artifact",
                "for example: igloo session-agent --artifact ./result");
  }
  IGLOO_ASSIGN(auto programs, service::FindPrograms());
  const ParsedArgs named =
      WithNamedProject(args, [&](std::string_view note) { console.Note(note); });
  IGLOO_ASSIGN(config::Config config, ReadConfig(named, ProjectUse::kShow, console));
  IGLOO_ASSIGN(const std::string name, service::UseArtifact(*directory, config));
  auto setup = std::make_shared<const service::Setup>(std::move(config), service::ReadNamed,
                                                      service::TheCaller());
  IGLOO_ASSIGN(const service::Order order, setup->OrderFor({}, name, {}));
  const service::Offered* offered = setup->Find(name);
  if (offered == nullptr || service::InterpreterOf(order.where).empty()) {
    return Fail(Errc::kFailedPrecondition, "environment '" + name + "' has no sessions",
                "'igloo run --artifact' runs code in it");
  }
  UniqueFd input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  Agent agent(std::move(programs), setup, *offered, order.where.environment.language, console);
  IGLOO_TRY(agent.Serve(std::move(input)));
  return 0;
}

constexpr Flag kFlags[] = {
    {"--artifact", "DIR", "what mkSandbox made", Values::kDirectory},
    {"--project", "DIR[:MODE]", "show DIR at /project; PROJECT_DIR if it is not given",
     Values::kDirectory},
    {"--no-project", "", "show no project"},
    {"--config", "FILE", "configuration, instead of the one in the usual place", Values::kFile},
};

}  // namespace

const Command kSessionAgentCommand = {
    .name = "session-agent",
    .summary = "one session of an artifact over pipes, for programs",
    .usage = "--artifact DIR [OPTIONS]",
    .flags = kFlags,
    .words = {},
    .details =
        "Speaks the protocol of nix-sandbox-mcp's session agent: four bytes of length, then JSON,\n"
        "on standard input and output. An artifact's bin/session-run is this command.\n",
    .run = RunAgent,
};

}  // namespace igloo::cli
