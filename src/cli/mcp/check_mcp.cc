#include "cli/mcp/check_mcp.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>

#include "base/clock.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "cli/mcp/mcp_peer.h"
#include "language/language.h"
#include "service/caller.h"
#include "service/environments.h"
#include "service/programs.h"
#include "service/setup.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kPatience(30);
/// A compiler's first run on a busy machine.
constexpr std::chrono::seconds kPatienceWithCode(120);

/// The smallest program that shows that it ran, by the ending of its file.
std::string_view ProgramFor(std::string_view ending) {
  const language::Language* found = language::FindByEnding(ending);
  return found == nullptr ? "" : found->shortest;
}

json::object Meta() {
  return {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
          {"io.modelcontextprotocol/clientInfo",
           json::object{{"name", "igloo mcp check"}, {"version", IGLOO_VERSION}}},
          {"io.modelcontextprotocol/clientCapabilities", json::object{}}};
}

std::string TextAt(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

/// What is called, and where it runs.
struct Call {
  std::string tool = {}, environment = {};
  json::object arguments = {};
};

/// In the first environment that is offered; the server's list has no names to be read by
/// programs, so they come from the same configuration.
Result<Call> CallOfRun(const ParsedArgs& args, const std::vector<std::string>& tools,
                       Console& console) {
  IGLOO_ASSIGN(config::Config config, ReadConfig(args, ProjectUse::kShow, console));
  const service::Setup setup(std::move(config), service::ReadEnvironments, service::TheCaller());
  for (const service::Offered& each : setup.offered()) {
    const auto order = setup.OrderFor({}, each.name, {});
    if (!order) continue;
    const std::string& file = order->where.environment.code_file;
    const std::string_view code = ProgramFor(std::string_view(file).substr(file.rfind('.') + 1));
    const std::string tool = each.rights.harmless() ? "run" : "run_connected";
    if (code.empty() || std::ranges::find(tools, tool) == tools.end()) continue;
    return Call{tool, each.name, {{"env", each.name}, {"code", code}}};
  }
  return Fail(Errc::kFailedPrecondition, "no environment is offered that something can be run in",
              "'igloo env list' says what is missing");
}

/// With a tool for each environment: the first that asks for code alone, in a language known here.
Result<Call> CallOfAny(const json::array& tools) {
  for (const json::value& each : tools) {
    const json::value* required =
        each.as_object().at("inputSchema").as_object().if_contains("required");
    if (required == nullptr || required->as_array().size() != 1) continue;
    const std::string parameter(required->as_array()[0].as_string());
    const std::string_view code =
        ProgramFor(std::string_view(parameter).substr(parameter.rfind('_') + 1));
    if (code.empty()) continue;
    const std::string name(each.at("name").as_string());
    return Call{name, name, {{parameter, code}}};
  }
  return Fail(Errc::kFailedPrecondition, "no tool is offered that could be tried",
              "'igloo env list' says what is missing");
}

/// What came of the tiny program.
Result<void> Judge(const json::object& result) {
  std::string text;
  if (const json::value* content = result.if_contains("content")) {
    for (const json::value& part : content->as_array()) {
      if (part.is_object()) text += TextAt(part.as_object(), "text");
    }
  }
  const json::value* failed = result.if_contains("isError");
  const bool error = failed != nullptr && failed->is_bool() && failed->as_bool();
  if (!error && text.contains("igloo-ok")) return {};
  return Fail(Errc::kFailedPrecondition,
              "the run did not do what it should: " + text.substr(0, 1000),
              "'igloo doctor' tries every wall and says what is missing");
}

/// One conversation, step by step.
class Conversation {
 public:
  Conversation(const ParsedArgs& args, const std::string& state_home, Console& console)
      : args_(args), state_home_(state_home), console_(console) {}

  std::vector<CheckStep> Run() {
    const bool done =
        Step("start", [&](std::string& detail) { return Start(detail); }) &&
        Step("server/discover", [&](std::string& detail) { return Discover(detail); }) &&
        Step("tools/list", [&](std::string& detail) { return List(detail); }) &&
        Step("tools/call", [&](std::string& detail) { return CallOne(detail); });
    (void)done;
    return std::move(steps_);
  }

 private:
  template <class Function>
  bool Step(std::string name, Function function) {
    CheckStep step{.name = std::move(name)};
    const std::int64_t begin = MonotonicMicros();
    auto done = function(step.detail);
    step.micros = MonotonicMicros() - begin;
    if (!done) step.failure = std::move(done).error();
    steps_.push_back(std::move(step));
    return !steps_.back().failure;
  }

  Result<void> Start(std::string& detail) {
    IGLOO_ASSIGN(const std::string program, service::FindIgloo());
    std::vector<std::string> command = {program, "mcp"};
    for (const char* flag : {"--config", "--project", "--tools"}) {
      if (const auto value = args_.Get(flag)) command.insert(command.end(), {flag, *value});
    }
    if (args_.Has("--no-project")) command.emplace_back("--no-project");
    // As 'igloo mcp install' has it.
    if (ReadDaemon(args_).transport == "http") command.emplace_back("--stdio");
    for (const std::string& word : command) {
      detail += (detail.empty() ? "" : " ") + ShellQuote(word);
    }
    IGLOO_ASSIGN(McpPeer peer, McpPeer::Start(command, state_home_));
    peer_.emplace(std::move(peer));
    return {};
  }

  Result<void> Discover(std::string& detail) {
    IGLOO_ASSIGN(const json::object found,
                 peer_->Ask("server/discover", {{"_meta", Meta()}}, kPatience));
    const json::value* info = found.if_contains("serverInfo");
    if (info == nullptr) {
      if (const json::value* meta = found.if_contains("_meta");
          meta != nullptr && meta->is_object()) {
        info = meta->as_object().if_contains("io.modelcontextprotocol/serverInfo");
      }
    }
    if (info != nullptr && info->is_object()) {
      detail = TextAt(info->as_object(), "name") + " " + TextAt(info->as_object(), "version");
    }
    return {};
  }

  Result<void> List(std::string& detail) {
    IGLOO_ASSIGN(json::object listed, peer_->Ask("tools/list", {{"_meta", Meta()}}, kPatience));
    const json::value* tools = listed.if_contains("tools");
    if (tools == nullptr || !tools->is_array() || tools->as_array().empty()) {
      return Fail(Errc::kFailedPrecondition, "the server has no tools",
                  "'igloo env list' says what is missing");
    }
    tools_ = tools->as_array();
    for (const json::value& each : tools_) {
      names_.push_back(TextAt(each.as_object(), "name"));
      detail += (detail.empty() ? "" : ", ") + names_.back();
    }
    return {};
  }

  Result<void> CallOne(std::string& detail) {
    const bool any_run = std::ranges::any_of(
        names_, [](const std::string& name) { return name == "run" || name == "run_connected"; });
    IGLOO_ASSIGN(Call call, any_run ? CallOfRun(args_, names_, console_) : CallOfAny(tools_));
    detail = fmt::format("{} in '{}'", call.tool, call.environment);
    IGLOO_ASSIGN(const json::object result, peer_->Ask("tools/call",
                                                       {{"_meta", Meta()},
                                                        {"name", call.tool},
                                                        {"arguments", std::move(call.arguments)}},
                                                       kPatienceWithCode));
    return Judge(result);
  }

  const ParsedArgs& args_;
  const std::string& state_home_;
  Console& console_;
  std::vector<CheckStep> steps_ = {};
  std::optional<McpPeer> peer_ = {};
  json::array tools_ = {};
  std::vector<std::string> names_ = {};
};

double Millis(const CheckStep& step) { return static_cast<double>(step.micros) / 1000.0; }

void PrintText(const std::vector<CheckStep>& steps, Console& console) {
  for (const CheckStep& step : steps) {
    const auto tone = step.failure ? Console::Tone::kBad : Console::Tone::kGood;
    console.Out(fmt::format(
        "{} {:<16} {:>8.1f} ms  {}\n",
        console.Paint(tone, fmt::format("{:<6}", step.failure ? "FAILED" : "ok")), step.name,
        Millis(step), Printable(step.failure ? step.failure->what : step.detail)));
    if (step.failure && !step.failure->hint.empty()) {
      console.Out(fmt::format("       fix: {}\n", Printable(step.failure->hint)));
    }
  }
}

void PrintJson(const std::vector<CheckStep>& steps, Console& console) {
  json::array rows;
  for (const CheckStep& step : steps) {
    rows.push_back(json::object{{"name", step.name},
                                {"ok", !step.failure},
                                {"ms", Millis(step)},
                                {"detail", ToUtf8(step.failure ? step.failure->what : step.detail)},
                                {"fix", ToUtf8(step.failure ? step.failure->hint : "")}});
  }
  console.Out(
      json::serialize(json::object{{"works", !steps.back().failure}, {"steps", std::move(rows)}}) +
      "\n");
}

}  // namespace

std::vector<CheckStep> TryServer(const ParsedArgs& args, const std::string& state_home,
                                 Console& console) {
  return Conversation(args, state_home, console).Run();
}

Result<int> CheckMcp(const ParsedArgs& args, Console& console) {
  if (args.words.size() != 1) {
    return Fail(Errc::kInvalidArgument, "'igloo mcp check' takes no words",
                "see 'igloo mcp --help'");
  }
  const std::vector<CheckStep> steps = TryServer(args, {}, console);
  if (args.Has("--json")) {
    PrintJson(steps, console);
  } else {
    PrintText(steps, console);
  }
  return steps.back().failure ? 1 : 0;
}

Finding ProbeServer(const ParsedArgs& args, Console& console) {
  Finding finding{.name = "MCP server"};
  const char* place = std::getenv("TMPDIR");
  const auto state = TempDir::Make(place != nullptr ? place : "/tmp");
  if (!state) {
    finding.state = Finding::State::kMissing;
    finding.detail = state.error().what;
    finding.fix = state.error().hint;
    return finding;
  }
  ParsedArgs alone = args;
  alone.flags["--no-project"] = "";
  const std::vector<CheckStep> steps = TryServer(alone, state->path(), console);
  for (const CheckStep& step : steps) {
    finding.detail +=
        fmt::format("{}{} {:.1f} ms", finding.detail.empty() ? "" : ", ", step.name, Millis(step));
  }
  if (const auto& failure = steps.back().failure) {
    finding.state = Finding::State::kMissing;
    finding.detail = steps.back().name + ": " + failure->what;
    finding.fix = failure->hint;
  }
  return finding;
}

}  // namespace igloo::cli
