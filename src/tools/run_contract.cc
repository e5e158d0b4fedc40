#include "tools/run_contract.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "mcp/pch.h"
#include "tools/arguments.h"
#include "tools/hints.h"
#include "tools/instructions.h"
#include "tools/render.h"
#include "tools/schema.h"
#include "tools/session_actions.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

/// The environments that a tool serves.
std::vector<const service::Offered*> Served(const service::Setup& setup, std::string_view tool) {
  std::vector<const service::Offered*> served;
  for (const service::Offered& each : setup.offered()) {
    if (each.rights.harmless() == (tool == kRun)) served.push_back(&each);
  }
  return served;
}

service::Rights Together(const std::vector<const service::Offered*>& served) {
  service::Rights rights;
  for (const service::Offered* each : served) {
    rights.network = rights.network || each->rights.network;
    rights.writable_host = rights.writable_host || each->rights.writable_host;
  }
  return rights;
}

mcp::JsonObject FilesProperty() {
  mcp::JsonObject files = Property("array", "files that the code finds in its working directory");
  files["items"] = mcp::JsonObject{
      {"type", "object"},
      {"properties",
       mcp::JsonObject{{"path", Property("string", "relative, such as data/input.csv")},
                       {"content", Property("string", "its text")},
                       {"base64", Property("string", "its bytes, instead of content")}}},
      {"required", boost::json::array{"path"}},
      {"additionalProperties", false}};
  return files;
}

mcp::JsonObject InputSchema(const std::vector<const service::Offered*>& served) {
  mcp::JsonObject seconds = Property(
      "number",
      fmt::format("time limit, at most {}; the environment's own if absent", kLongestSeconds));
  seconds["exclusiveMinimum"] = 0;
  seconds["maximum"] = kLongestSeconds;
  mcp::JsonObject output =
      Property("integer", fmt::format("bytes of output in the result, {} if absent; what is cut "
                                      "can be read as a resource",
                                      kUsualOutput));
  output["minimum"] = 100;
  output["maximum"] = kMostOutput;
  mcp::JsonObject action =
      Property("string",
               "instead of code: close ends 'session'; reset drops its variables and keeps its "
               "files; interrupt stops what runs in it; list shows all");
  action["enum"] = boost::json::array{"close", "reset", "interrupt", "list"};
  return {{"type", "object"},
          {"properties",
           mcp::JsonObject{
               {"code",
                Property("string",
                         "the code itself, not a command that runs it; only session_action needs "
                         "none")},
               {"env", Property("string", "environment: " + Names(served))},
               {"session", Property("string",
                                    "name of a session: variables, files and the working "
                                    "directory last from call to call. Choose one, or say \"new\" "
                                    "and use the name in the result. Leave it out for a fresh "
                                    "sandbox")},
               {"fork_of", Property("string",
                                    "name of a session that a new one begins as a copy of, with "
                                    "its variables and files")},
               {"session_action", std::move(action)},
               {"echo", Property("boolean",
                                 "in a session: show the value of a last expression; true if "
                                 "absent")},
               {"timeout_seconds", std::move(seconds)},
               {"files", FilesProperty()},
               {"max_output", std::move(output)}}},
          {"required", boost::json::array{"env"}},
          {"additionalProperties", false}};
}

std::string Description(std::string_view tool, const std::vector<const service::Offered*>& served) {
  std::string text =
      "Run code in a fresh, isolated sandbox and get its output, exit code, files and pictures. ";
  if (tool == kRun) {
    text +=
        "Nothing on the user's machine can be changed and there is no network, so it is safe to "
        "use freely: for calculations, for checking that code works, for data and plots. Not for "
        "editing the user's files, for git, or for anything "
        "that needs the user's own environment: use other tools for that.";
  } else {
    const service::Rights rights = Together(served);
    text += "These environments can do more than compute: ";
    text += rights.network ? "they reach the network" : "";
    text += rights.network && rights.writable_host ? ", and " : "";
    text += rights.writable_host ? "code changes the files of the user's project" : "";
    text += ".";
  }
  text += "\nEnvironments:\n";
  for (const service::Offered* each : served) {
    text += fmt::format("- {}: {}\n", each->name, Printable(each->description));
  }
  return FitToClients(text);
}

mcp::Tool MakeTool(std::string_view name, const std::vector<const service::Offered*>& served) {
  const service::Rights rights = Together(served);
  const bool harmless = rights.harmless();
  return {
      .name = std::string(name),
      .title = harmless ? "Run code in a sandbox" : "Run code with network or write access",
      .description = Description(name, served),
      .input_schema = InputSchema(served),
      .output_schema = OutputSchema(),
      .hints = HintsOf(rights),
      .background = mcp::Background::kWhenSlow,
      .meta = {{"anthropic/alwaysLoad", harmless}, {"anthropic/maxResultSizeChars", kMostOutput}}};
}

/// The environment is served by this tool, or the error says by which one it is.
Result<const service::Offered*> CheckServed(const service::Setup& setup, std::string_view tool,
                                            const std::string& name) {
  const service::Offered* offered = setup.Find(name);
  const bool here = offered != nullptr && offered->rights.harmless() == (tool == kRun);
  if (here) return offered;
  if (offered != nullptr) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("environment '{}' is served by the tool '{}'", offered->name,
                            tool == kRun ? kConnected : kRun),
                "call that one");
  }
  const std::string quoted = Quoted(name);
  const auto found = setup.catalogue().Find(quoted);
  // Why one that exists cannot be used; for one that does not, what was meant.
  Error error =
      found ? Error{Errc::kFailedPrecondition, "it cannot be used", {}, 0} : found.error();
  error.what =
      fmt::format("there is no run in environment '{}': {}", Printable(quoted), error.what);
  const std::string names = Names(Served(setup, tool));
  if (!error.hint.empty()) error.hint += "; ";
  error.hint += names.empty() ? "no environment can be used here: run 'igloo doctor'"
                              : "those that can be used are: " + names;
  return std::unexpected(std::move(error));
}

}  // namespace

std::vector<mcp::Tool> RunContract::Tools(const service::Setup& setup) const {
  std::vector<mcp::Tool> tools;
  const auto connected = Served(setup, kConnected);
  const auto harmless = Served(setup, kRun);
  // Without any environment `run` still stands there, and says why it cannot run anything.
  if (!harmless.empty() || connected.empty()) {
    tools.push_back(MakeTool(kRun, harmless));
    tools.back().meta["anthropic/alwaysLoad"] = setup.config().daemon.always_load;
  }
  if (!connected.empty()) tools.push_back(MakeTool(kConnected, connected));
  return tools;
}

asio::awaitable<mcp::Answer<mcp::ToolResult>> RunContract::Run(
    mcp::Call& call, mcp::ToolCall request, std::shared_ptr<const service::Setup> setup,
    service::Trace& trace) {
  const auto refuse = [&](const Error& error) {
    trace.error = error.what;
    return RenderFailure(error, trace.environment);
  };
  auto arguments = ReadArguments(request.arguments);
  if (!arguments) co_return refuse(arguments.error());
  if (arguments->action) {
    const std::string id = arguments->session.value_or("");
    co_return co_await Act(workshop_.sessions, *arguments->action, id, call.cancellation(), trace);
  }
  setup = co_await AwaitEnvironment(workshop_, call, setup, arguments->environment, trace);
  const service::Offered* known = setup->Find(arguments->environment);
  trace.environment = known != nullptr ? known->name : kUnknownEnvironment;
  trace.code = arguments->code;
  const auto offered = CheckServed(*setup, request.name, arguments->environment);
  if (!offered) {
    // SECURITY: what came as a name may be anything, the code itself, and a trace is written down.
    trace.error = "there is no such environment, or not for this tool";
    co_return RenderFailure(offered.error(), trace.environment);
  }
  trace.environment = (*offered)->name;
  const Presentation how{.environment = trace.environment,
                         .room = arguments->max_output.value_or(kUsualOutput),
                         .sequences = setup->config().daemon.keeps_sequences()
                                          ? Sequences::kKeep
                                          : Sequences::kRemove};
  if (arguments->session) {
    const bool named = *arguments->session != kNewSession;
    service::Sessions::Asked asked{
        .id = named ? *std::move(arguments->session) : workshop_.sessions.NewName(),
        .code = std::move(arguments->code),
        .time_ms = arguments->time_ms,
        .files = std::move(arguments->files),
        .echo = arguments->echo.value_or(true),
        .fork_of = std::move(arguments->fork_of)};
    auto finished = co_await Execute(workshop_, call, std::move(asked), **offered, setup, trace);
    if (!finished) co_return RenderFailure(finished.error(), trace.environment);
    if (!named) {
      finished->notes.push_back(
          fmt::format("this is session {}: give that name to go on in it", finished->session));
    }
    co_return RenderRun(*std::move(finished), how, workshop_.store);
  }
  auto order = setup->OrderFor(workshop_.sessions.owner(), arguments->environment,
                               {.what = environment::Code{std::move(arguments->code)},
                                .time_ms = arguments->time_ms,
                                .files = std::move(arguments->files)});
  if (!order) co_return refuse(order.error());
  service::Order now = *std::move(order);
  auto finished = co_await Execute(workshop_, call, std::move(now), trace);
  if (!finished) co_return RenderFailure(finished.error(), trace.environment);
  co_return RenderRun(*std::move(finished), how, workshop_.store);
}

}  // namespace igloo::tools
