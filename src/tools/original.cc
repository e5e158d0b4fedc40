#include "tools/original.h"

#include <fmt/format.h>

#include "base/text.h"
#include "mcp/pch.h"
#include "mcp/service.h"
#include "tools/arguments.h"
#include "tools/clip.h"
#include "tools/instructions.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kMost = 1U << 20;
constexpr std::string_view kCut = "\n\n[truncated \xe2\x80\x94 output exceeded 1MB]";

std::vector<const Offered*> Harmless(const Setup& setup) {
  std::vector<const Offered*> list;
  for (const Offered& each : setup.offered()) {
    if (each.rights.harmless()) list.push_back(&each);
  }
  return list;
}

mcp::JsonObject Text(std::string_view description) {
  return {{"type", "string"}, {"description", description}};
}

std::string Compose(const std::string& output, const std::string& error) {
  if (error.empty()) return output;
  if (output.empty()) return error;
  return output + "\n--- stderr ---\n" + error;
}

std::string TimeOut(const Finished& finished) {
  return fmt::format("{} timed out after {:g}s",
                     finished.session.empty() ? "Command" : "Session execution",
                     static_cast<double>(finished.time_limit_ms) / 1000.0);
}

}  // namespace

mcp::ToolResult RenderOriginal(const Finished& finished) {
  const session::RunResult& run = finished.run;
  if (run.verdict == session::Verdict::kTimeout) return mcp::ToolFailure(TimeOut(finished));
  const bool cut = run.output.cut() || run.error.cut();
  std::string text = Compose(ToUtf8(run.output.kept()), ToUtf8(run.error.kept()));
  if (cut || text.size() > kMost) {
    text = std::string(WholeCharacters(text, kMost)) + std::string(kCut);
  }
  mcp::ToolResult result;
  result.content.emplace_back(mcp::content::Text{std::move(text)});
  result.is_error = run.exit_code != 0;
  return result;
}

std::string OriginalInstructions(const Setup& setup, const std::vector<mcp::Tool>&) {
  std::string text = "Execute code in isolated sandboxes.\n\nAvailable environments:\n";
  for (const Offered* each : Harmless(setup)) {
    text += fmt::format("- {}: {}\n", each->name, Printable(each->description));
  }
  text +=
      "\nParameters:\n"
      "- code: the code to run, as it is\n"
      "- env: the name of an environment\n"
      "- session: optional; ephemeral by default, and bound to its creation environment\n"
      "\nOn failure check stderr and exit code.\n";
  if (!setup.config().project.path.empty()) {
    text += fmt::format("Project directory mounted at {} (read-only).\n",
                        Printable(setup.config().project.mount_point));
  }
  return FitToClients(text);
}

std::vector<mcp::Tool> OriginalContract::Tools(const Setup&) const {
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
  return {std::move(tool)};
}

asio::awaitable<mcp::Answer<mcp::ToolResult>> OriginalContract::Run(
    mcp::Call& call, mcp::ToolCall request, std::shared_ptr<const Setup> setup, Trace& trace) {
  auto arguments = ReadArguments(request.arguments);
  if (!arguments) {
    trace.error = arguments.error().what;
    co_return mcp::Refuse(mcp::RpcCode::kInvalidParams, arguments.error().what);
  }
  if (arguments->action) {
    trace.error = "there is no argument 'session_action'";
    co_return mcp::Refuse(mcp::RpcCode::kInvalidParams, trace.error);
  }
  trace.environment = kUnknownEnvironment;
  trace.code = arguments->code;
  setup = co_await AwaitEnvironment(workshop_, call, setup, arguments->environment, trace);
  const Offered* offered = setup->Find(arguments->environment);
  if (offered == nullptr || !offered->rights.harmless()) {
    const std::string message =
        fmt::format("Unknown environment: '{}'. Available: [{}]",
                    Printable(Quoted(arguments->environment)), Names(Harmless(*setup)));
    trace.error = "there is no such environment";
    co_return mcp::Refuse(mcp::RpcCode::kInvalidParams, message);
  }
  trace.environment = offered->name;
  const auto fail = [&](const Error& error) {
    trace.verdict = "failed";
    trace.error = error.what;
    return mcp::ToolFailure("Execution error: " + error.what);
  };
  if (arguments->session) {
    const auto bound = workshop_.sessions.EnvironmentOf(*arguments->session);
    if (bound && *bound != offered->name) {
      trace.error = "the session is another environment's";
      co_return mcp::ToolFailure(
          fmt::format("Session '{}' is bound to environment '{}', not '{}'.\n"
                      "Use another session id, or leave it out.",
                      Printable(*arguments->session), *bound, offered->name));
    }
    Sessions::Asked asked{
        .id = *std::move(arguments->session), .code = std::move(arguments->code), .echo = false};
    auto finished = co_await Execute(workshop_, call, std::move(asked), *offered, setup, trace);
    if (!finished) co_return fail(finished.error());
    co_return RenderOriginal(*finished);
  }
  auto order = setup->OrderFor(workshop_.sessions.owner(), arguments->environment,
                               {.what = environment::Code{std::move(arguments->code)}});
  if (!order) co_return fail(order.error());
  Order now = *std::move(order);
  auto finished = co_await Execute(workshop_, call, std::move(now), trace);
  if (!finished) co_return fail(finished.error());
  co_return RenderOriginal(*finished);
}

}  // namespace igloo::tools
