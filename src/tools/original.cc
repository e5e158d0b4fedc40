#include "tools/original.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error_text.h"
#include "base/text.h"
#include "mcp/pch.h"
#include "mcp/service.h"
#include "tools/arguments.h"
#include "tools/clip.h"
#include "tools/hints.h"
#include "tools/instructions.h"
#include "tools/render.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kMost = 1U << 20;
constexpr std::string_view kCut = "\n\n[truncated \xe2\x80\x94 output exceeded 1MB]";

mcp::JsonObject Text(std::string_view description) {
  return {{"type", "string"}, {"description", description}};
}

std::string Compose(const std::string& output, const std::string& error) {
  if (error.empty()) return output;
  if (output.empty()) return error;
  return output + "\n--- stderr ---\n" + error;
}

/// What the code did not print and its caller must know, a line each: there is no other place for
/// it in these results. An exit code was never told.
std::string Remarks(const service::Finished& finished) {
  std::string text;
  const session::Verdict verdict = finished.run.verdict;
  const bool timeout = verdict == session::Verdict::kTimeout;
  if (!timeout && EndedFromOutside(verdict)) text += "[" + HowItEnded(finished) + "]\n";
  if (!finished.parts.empty()) {
    text += fmt::format(
        "[{} shown by display() are not in this server's results, which are text; print them, or "
        "use 'igloo mcp']\n",
        finished.parts.size());
  }
  for (const std::string& note : finished.notes) text += "[" + note + "]\n";
  return text;
}

std::string WithLines(std::string text, const std::string& lines) {
  if (!text.empty() && !lines.empty() && !text.ends_with('\n')) text += '\n';
  return text + lines;
}

/// The line of an environment: its name, and what code in it can do beyond computing.
std::string LineOf(const service::Offered& offered) {
  std::string line = fmt::format("- {}: {}", offered.name, Printable(offered.description));
  if (offered.rights.network) line += fmt::format(" [network: {}]", Printable(offered.reaches));
  return line + "\n";
}

std::string_view AccessOf(environment::ProjectMode mode) {
  switch (mode) {
    case environment::ProjectMode::kReadOnly:
      return "read-only";
    case environment::ProjectMode::kOverlay:
      return "writable: changes are dropped after the call, in a session when it ends";
    case environment::ProjectMode::kReadWrite:
      return "read-write: changes are real";
  }
  return "?";
}

std::string ProjectLines(const service::Setup& setup) {
  const config::ProjectConfig& project = setup.config().project;
  if (project.path.empty()) return "";
  std::string text = fmt::format("Project directory mounted at {} ({}).\n",
                                 Printable(project.mount_point), AccessOf(project.mode));
  const std::string name(config::kProjectEnvironment);
  if (project.use_flake && setup.Find(name) != nullptr) {
    text += fmt::format("Project's devShell available as '{}' environment.\n", name);
  }
  return text;
}

/// As it was printed: each name in quotation marks.
std::string QuotedNames(const service::Setup& setup) {
  std::string names;
  for (const service::Offered& each : setup.offered()) {
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", each.name);
  }
  return names;
}

std::string TimeOut(const service::Finished& finished) {
  return fmt::format("{} timed out after {:g}s",
                     finished.session.empty() ? "Command" : "Session execution",
                     static_cast<double>(finished.time_limit_ms) / 1000.0);
}

}  // namespace

mcp::ToolResult RenderOriginal(const service::Finished& finished) {
  const session::RunResult& run = finished.run;
  const std::string remarks = ToUtf8(Remarks(finished));
  if (run.verdict == session::Verdict::kTimeout) {
    return mcp::ToolFailure(WithLines(TimeOut(finished), remarks));
  }
  const bool cut = run.output.cut() || run.error.cut();
  const std::string output = ToUtf8(finished.late_output + run.output.kept());
  const std::string error = ToUtf8(finished.late_error + run.error.kept());
  std::string text = Compose(output, WithLines(error, remarks));
  if (cut || text.size() > kMost) {
    text = WithLines(std::string(WholeCharacters(text, kMost)) + std::string(kCut), remarks);
  }
  mcp::ToolResult result;
  result.content.emplace_back(mcp::content::Text{std::move(text)});
  result.is_error = run.exit_code != 0;
  return result;
}

std::string OriginalInstructions(const service::Setup& setup, const std::vector<mcp::Tool>&) {
  std::string text = "Execute code in isolated sandboxes.\n\nAvailable environments:\n";
  for (const service::Offered& each : setup.offered()) text += LineOf(each);
  text +=
      "\nParameters:\n"
      "- code: the code to run, as it is\n"
      "- env: the name of an environment\n"
      "- session: optional; ephemeral by default, and bound to its creation environment\n"
      "\nOn failure check stderr and exit code.\n";
  return FitToClients(text + ProjectLines(setup));
}

std::vector<mcp::Tool> OriginalContract::Tools(const service::Setup& setup) const {
  mcp::Tool tool{
      .name = "run",
      .description =
          "Run code in an isolated, reproducible environment with limits on time and memory. "
          "Prefer it to a shell of your own for code that needs no files of the user's; do not use "
          "it to edit files, for git, or for what needs the host's environment."};
  tool.input_schema = {
      {"type", "object"},
      {"properties",
       mcp::JsonObject{
           {"code", Text("code to run, not an invocation of its interpreter")},
           {"env", Text("environment: python, node, shell, or custom")},
           {"session", Text("name of a session that keeps state; absent: nothing is kept")}}},
      {"required", boost::json::array{"code", "env"}}};
  // It never had annotations, without which clients ask their user. What is known to be dangerous
  // is said all the same.
  service::Rights rights;
  for (const service::Offered& each : setup.offered()) {
    rights.network = rights.network || each.rights.network;
    rights.writable_host = rights.writable_host || each.rights.writable_host;
  }
  if (!rights.harmless()) tool.hints = HintsOf(rights);
  return {std::move(tool)};
}

namespace {

/// Why an environment that somebody named takes no code: there is none, or it cannot be used now.
mcp::Answer<mcp::ToolResult> RefuseEnvironment(const service::Setup& setup, const std::string& name,
                                               service::Trace& trace) {
  const std::string quoted = Quoted(name);
  const auto found = setup.catalogue().Find(quoted, environment::Depth::kOutline);
  const auto unusable = std::ranges::find(setup.unusable(), quoted, &service::Unusable::name);
  // SECURITY: what came as a name may be anything, the code itself, and a trace is written down.
  trace.error = "there is no such environment, or it cannot be used";
  if (unusable != setup.unusable().end()) {
    return mcp::ToolFailure("Execution error: " + InOneLine(unusable->why));
  }
  if (!found && found.error().code != Errc::kNotFound) {
    return mcp::ToolFailure("Execution error: " + InOneLine(found.error()));
  }
  return mcp::Refuse(mcp::RpcCode::kInvalidParams,
                     fmt::format("Unknown environment: '{}'. Available: [{}]", Printable(quoted),
                                 QuotedNames(setup)));
}

}  // namespace

std::string OriginalSessionFailure(const Error& error, const std::string& environment,
                                   SessionBefore before, SessionAfter after) {
  const bool lived = before == SessionBefore::kLived, lives = after == SessionAfter::kLives;
  if (lived && !lives) return "Failed to communicate with session agent: " + InOneLine(error);
  const bool began = lived || lives;
  const bool refused = error.code == Errc::kInvalidArgument || error.code == Errc::kExhausted;
  if (began || refused) return InOneLine(error);
  if (error.code == Errc::kTimeout) {
    return fmt::format(
        "Failed to start session agent for '{}': Agent did not send Ready within "
        "30s: {}",
        environment, InOneLine(error));
  }
  return fmt::format("Failed to start session agent for '{}': {}", environment, InOneLine(error));
}

asio::awaitable<mcp::Answer<mcp::ToolResult>> OriginalContract::RunInSession(
    mcp::Call& call, RunArguments arguments, const service::Offered& offered,
    std::shared_ptr<const service::Setup> setup, service::Trace& trace) {
  const std::string id = *std::move(arguments.session);
  const auto bound = workshop_.sessions.EnvironmentOf(id);
  if (bound && *bound != offered.name) {
    trace.error = "the session is another environment's";
    co_return mcp::ToolFailure(
        fmt::format("Session '{}' is bound to environment '{}', not '{}'.\n"
                    "Use a different session ID, or omit session for ephemeral execution.",
                    Printable(id), *bound, offered.name));
  }
  const auto where = setup->catalogue().Find(offered.name, environment::Depth::kOutline);
  if (where && service::DriverOf(*where) == nullptr) {
    trace.error = "the environment has no sessions";
    co_return mcp::ToolFailure(fmt::format(
        "Environment '{}' does not support sessions (no session_exec configured)", offered.name));
  }
  service::Sessions::Asked asked{.id = id, .code = std::move(arguments.code), .echo = false};
  auto finished = co_await Execute(workshop_, call, std::move(asked), offered, setup, trace);
  if (finished) co_return RenderOriginal(*finished);
  const auto before = bound ? SessionBefore::kLived : SessionBefore::kNew;
  const auto after =
      workshop_.sessions.EnvironmentOf(id) ? SessionAfter::kLives : SessionAfter::kGone;
  co_return mcp::ToolFailure("Execution error: " +
                             OriginalSessionFailure(finished.error(), offered.name, before, after));
}

asio::awaitable<mcp::Answer<mcp::ToolResult>> OriginalContract::Run(
    mcp::Call& call, mcp::ToolCall request, std::shared_ptr<const service::Setup> setup,
    service::Trace& trace) {
  auto arguments = ReadOriginalArguments(request.arguments);
  if (!arguments) {
    trace.error = arguments.error().what;
    co_return mcp::Refuse(mcp::RpcCode::kInvalidParams, InOneLine(arguments.error()));
  }
  trace.environment = kUnknownEnvironment;
  trace.code = arguments->code;
  setup = co_await AwaitEnvironment(workshop_, call, setup, arguments->environment, trace);
  const service::Offered* offered = setup->Find(arguments->environment);
  if (offered == nullptr) co_return RefuseEnvironment(*setup, arguments->environment, trace);
  trace.environment = offered->name;
  if (arguments->session) {
    RunArguments in_session = *std::move(arguments);
    co_return co_await RunInSession(call, std::move(in_session), *offered, setup, trace);
  }
  const auto fail = [&](const Error& error) {
    trace.verdict = "failed";
    trace.error = error.what;
    return mcp::ToolFailure("Execution error: " + InOneLine(error));
  };
  auto order = setup->OrderFor(workshop_.sessions.owner(), arguments->environment,
                               {.what = environment::Code{std::move(arguments->code)}});
  if (!order) co_return fail(order.error());
  service::Order now = *std::move(order);
  auto finished = co_await Execute(workshop_, call, std::move(now), trace);
  if (!finished) co_return fail(finished.error());
  co_return RenderOriginal(*finished);
}

}  // namespace igloo::tools
