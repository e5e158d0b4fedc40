#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/environments.h"

namespace igloo::cli {
namespace {

using environment::ArtifactProblem;
using environment::Environment;
using environment::Listing;
using environment::Registry;
namespace json = boost::json;

json::array Texts(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.push_back(json::string(ToUtf8(text)));
  return out;
}

json::object ErrorObject(const Error& error) {
  return {{"what", ToUtf8(error.what)}, {"hint", ToUtf8(error.hint)}};
}

void ReportProblems(const Registry& registry, Console& console) {
  for (const ArtifactProblem& problem : registry.problems()) {
    console.Note("skipped '" + Printable(problem.directory) +
                 "': " + Printable(problem.error.what));
  }
}

std::string Joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

void ListText(const Registry& registry, Console& console) {
  std::string unavailable;
  for (const Listing& each : registry.List()) {
    if (each.unavailable) {
      unavailable +=
          fmt::format("{:<14} {}\n{:<14} fix: {}\n", each.name, Printable(each.unavailable->what),
                      "", Printable(each.unavailable->hint));
      continue;
    }
    const std::string also =
        each.aliases.empty() ? "" : fmt::format(" (also: {})", Joined(each.aliases, ", "));
    console.Out(fmt::format("{:<14} {:<9} {}{}\n", each.name, each.provider,
                            Printable(each.description), also));
  }
  if (!unavailable.empty()) console.Out("\nNot available:\n" + unavailable);
}

void ListJson(const Registry& registry, Console& console) {
  json::array rows, problems;
  for (const Listing& each : registry.List()) {
    json::object row{{"name", each.name},
                     {"aliases", Texts(each.aliases)},
                     {"description", ToUtf8(each.description)},
                     {"provider", each.provider},
                     {"available", !each.unavailable}};
    if (each.unavailable) row["error"] = ErrorObject(*each.unavailable);
    rows.push_back(std::move(row));
  }
  for (const ArtifactProblem& problem : registry.problems()) {
    problems.push_back(json::object{{"directory", ToUtf8(problem.directory)},
                                    {"error", ErrorObject(problem.error)}});
  }
  const json::object document{{"environments", std::move(rows)}, {"problems", std::move(problems)}};
  console.Out(json::serialize(document) + "\n");
}

/// What of the host is seen inside: source and target.
std::vector<const sandbox::HostTree*> SourcesOf(const Environment& environment) {
  std::vector<const sandbox::HostTree*> trees;
  for (const sandbox::Entry& entry : environment.contents) {
    if (const auto* tree = std::get_if<sandbox::HostTree>(&entry)) trees.push_back(tree);
  }
  return trees;
}

std::string Started(const Environment& environment) {
  std::string out;
  for (const std::string& word : environment.interpreter) out += ShellQuote(Printable(word)) + " ";
  return out + environment.code_file;
}

void ShowText(const Environment& environment, Console& console) {
  const auto line = [&](std::string_view name, const std::string& text) {
    console.Out(fmt::format("{:<12} {}\n", name, Printable(text)));
  };
  line("name", environment.name);
  if (!environment.aliases.empty()) line("also", Joined(environment.aliases, ", "));
  if (!environment.description.empty()) line("description", environment.description);
  line("provider", environment.provider);
  line("code", Started(environment));
  if (!environment.shell.empty()) line("shell", Joined(environment.shell, " "));
  for (const auto& [name, value] : environment.variables) line("variable", name + "=" + value);
  const sandbox::Limits& limits = environment.limits;
  line("time", fmt::format("{:g} s", static_cast<double>(limits.time_ms) / 1000.0));
  line("memory", HumanBytes(limits.memory_bytes));
  line("processes", std::to_string(limits.processes));
  line("open files", std::to_string(limits.open_files));
  line("file size", HumanBytes(limits.file_bytes));
  for (const sandbox::HostTree* tree : SourcesOf(environment)) {
    line("read-only",
         tree->source == tree->target ? tree->target : tree->target + " <- " + tree->source);
  }
  for (const std::string& note : environment.notes) line("note", note);
}

void ShowJson(const Environment& environment, Console& console) {
  json::object variables;
  for (const auto& [name, value] : environment.variables) variables[ToUtf8(name)] = ToUtf8(value);
  json::array sources;
  for (const sandbox::HostTree* tree : SourcesOf(environment)) {
    sources.push_back(
        json::object{{"source", ToUtf8(tree->source)}, {"target", ToUtf8(tree->target)}});
  }
  const sandbox::Limits& limits = environment.limits;
  const json::object document{{"name", environment.name},
                              {"aliases", Texts(environment.aliases)},
                              {"description", ToUtf8(environment.description)},
                              {"provider", environment.provider},
                              {"interpreter", Texts(environment.interpreter)},
                              {"code_file", environment.code_file},
                              {"shell", Texts(environment.shell)},
                              {"variables", std::move(variables)},
                              {"limits", json::object{{"time_ms", limits.time_ms},
                                                      {"memory_bytes", limits.memory_bytes},
                                                      {"processes", limits.processes},
                                                      {"open_files", limits.open_files},
                                                      {"file_bytes", limits.file_bytes}}},
                              {"sources", std::move(sources)},
                              {"notes", Texts(environment.notes)}};
  console.Out(json::serialize(document) + "\n");
}

Result<int> List(const ParsedArgs& args, Console& console) {
  if (args.words.size() > 1) {
    return Fail(Errc::kInvalidArgument, "'igloo env list' takes no names",
                "for one of them: igloo env show " + ShellQuote(args.words[1]));
  }
  const Registry registry = ReadEnvironments();
  if (args.Has("--names")) {
    for (const Listing& each : registry.List()) {
      if (!each.unavailable) console.Out(each.name + "\n");
    }
  } else if (args.Has("--json")) {
    ListJson(registry, console);
  } else {
    ListText(registry, console);
    ReportProblems(registry, console);
  }
  return 0;
}

Result<int> ShowOne(const ParsedArgs& args, Console& console) {
  if (args.words.size() != 2) {
    return Fail(Errc::kInvalidArgument, "'igloo env show' takes the name of one environment",
                "for example: igloo env show python");
  }
  const Registry registry = ReadEnvironments();
  const auto environment = registry.Find(args.words[1]);
  if (!environment) {
    // The name may be one of those that were skipped.
    if (!args.Has("--json")) ReportProblems(registry, console);
    return std::unexpected(environment.error());
  }
  if (args.Has("--json")) {
    ShowJson(*environment, console);
  } else {
    ShowText(*environment, console);
  }
  return 0;
}

Result<int> RunEnv(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const std::string_view word, TakeWord(kEnvCommand, args));
  return word == "list" ? List(args, console) : ShowOne(args, console);
}

constexpr Flag kFlags[] = {{"--json", "", "print one JSON document"},
                           {"--names", "", "with list: print the usable names and nothing else"}};
constexpr Word kWords[] = {
    {"list", "every environment, and why one cannot be used"},
    {"show", "one environment: programs, variables, limits, sources", Values::kEnvironment}};

}  // namespace

const Command kEnvCommand = {
    .name = "env",
    .summary = "list environments, or show one",
    .usage = "(list | show NAME) [--json]",
    .flags = kFlags,
    .words = kWords,
    .details =
        "Environments come from the host's /usr, and from directories that mkSandbox made, in\n"
        "~/.config/igloo/environments and NIX_SANDBOX_DIR. One of the latter beats a preset of\n"
        "its name.\n",
    .run = RunEnv,
};

}  // namespace igloo::cli
