#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"
#include "cgroup/groups.h"
#include "cli/commands.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "cli/env/env_commands.h"
#include "cli/env/env_pull.h"
#include "cli/env/hidden_rules.h"
#include "environment/conveniences.h"
#include "environment/etc.h"
#include "service/environments.h"

namespace igloo::cli {
namespace {

using config::Catalogue;
using config::Config;
using config::Configured;
using environment::ArtifactProblem;
using environment::Environment;
using environment::Listing;
namespace json = boost::json;

json::array Texts(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.push_back(json::string(ToUtf8(text)));
  return out;
}

json::object ErrorObject(const Error& error) {
  return {{"what", ToUtf8(error.what)}, {"hint", ToUtf8(error.hint)}};
}

void ReportProblems(const std::vector<ArtifactProblem>& problems, Console& console) {
  for (const ArtifactProblem& problem : problems) {
    console.Note("skipped '" + Printable(problem.directory) +
                 "': " + Printable(problem.error.what));
  }
}

std::string Joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string CpusText(std::uint64_t millicpus) {
  const std::string why = cgroup::WhyNoCpus(cgroup::Find());
  return fmt::format("{:g}{}", static_cast<double>(millicpus) / 1000.0,
                     why.empty() ? "" : ", which nobody limits here: " + why);
}

/// Nix's own words have several lines.
std::string Indented(std::string_view text) {
  std::string out;
  for (const char c : Printable(text, Newlines::kKeep)) {
    out += c;
    if (c == '\n') out += std::string(17, ' ');
  }
  return out;
}

/// A column of plain letters. There may be hundreds of rows, and this is most of what they cost.
void AddColumn(std::string_view text, std::size_t width, std::string& out) {
  out += text;
  out.append(width > text.size() ? width - text.size() + 1 : 1, ' ');
}

void ListText(const service::Listed& listed, Console& console) {
  std::string usable, unavailable;
  for (const Listing& each : listed.environments) {
    if (each.unavailable) {
      const Error& why = *each.unavailable;
      unavailable += fmt::format("{:<14} {}\n", each.name, Indented(why.what));
      if (!why.hint.empty())
        unavailable += fmt::format("{:<14} fix: {}\n", "", Printable(why.hint));
      continue;
    }
    AddColumn(each.name, 14, usable);
    AddColumn(each.provider, 9, usable);
    usable += Printable(each.description);
    if (!each.aliases.empty()) usable += " (also: " + Joined(each.aliases, ", ") + ")";
    if (!each.source.empty()) usable += " [" + Printable(each.source) + "]";
    usable += '\n';
  }
  console.Out(usable);
  if (!unavailable.empty()) console.Out("\nNot available:\n" + unavailable);
}

void ListJson(const service::Listed& listed, Console& console) {
  json::array rows, problems;
  for (const Listing& each : listed.environments) {
    json::object row{{"name", each.name},
                     {"aliases", Texts(each.aliases)},
                     {"description", ToUtf8(each.description)},
                     {"provider", each.provider},
                     {"available", !each.unavailable}};
    if (!each.source.empty()) row["source"] = ToUtf8(each.source);
    if (!each.locked.empty()) row["locked"] = ToUtf8(each.locked);
    if (each.unavailable) row["error"] = ErrorObject(*each.unavailable);
    rows.push_back(std::move(row));
  }
  for (const ArtifactProblem& problem : listed.problems) {
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

/// Links of the host's /etc that the host environments show.
std::vector<const sandbox::Link*> LinksOfEtc(const Environment& environment) {
  std::vector<const sandbox::Link*> links;
  if (environment.provider != "host") return links;
  for (const sandbox::Entry& entry : environment.contents) {
    const auto* link = std::get_if<sandbox::Link>(&entry);
    if (link != nullptr && !environment::WhyInEtc(link->path).empty()) links.push_back(link);
  }
  return links;
}

/// Why a part of /etc is shown.
std::string Because(std::string_view target) {
  const std::string_view why = environment::WhyInEtc(target);
  return why.empty() ? "" : fmt::format("  ({})", why);
}

std::string Started(const Environment& environment) {
  std::string out;
  for (const std::string& word : environment.interpreter) {
    const std::size_t line = word.find('\n');
    const std::string rest = line == word.npos ? "" : " ...";  // of a script
    out += ShellQuote(Printable(word.substr(0, line)) + rest) + " ";
  }
  return out + environment.code_file;
}

/// What the file sets beats what the environment brings: this is what code sees.
std::map<std::string, std::string> VariablesOf(const Configured& configured) {
  std::map<std::string, std::string> all = configured.variables;
  all.insert(configured.environment.variables.begin(), configured.environment.variables.end());
  const auto* conveniences = environment::ConveniencesOf(configured.environment);
  if (conveniences != nullptr) environment::AddVariables(*conveniences, all);
  return all;
}

std::string Seconds(double seconds) { return fmt::format("{:g} s", seconds); }

void ShowText(const Configured& configured, const Config& config, Console& console) {
  const Environment& environment = configured.environment;
  const auto line = [&](std::string_view name, const std::string& text) {
    console.Out(fmt::format("{:<12} {}\n", name, Printable(text)));
  };
  line("name", environment.name);
  if (!environment.aliases.empty()) line("also", Joined(environment.aliases, ", "));
  if (!environment.description.empty()) line("description", environment.description);
  line("provider", environment.provider);
  if (!environment.source.empty()) line("flake", environment.source);
  if (!environment.locked.empty()) line("locked", environment.locked);
  line("backend", std::string(configured.backend->name));
  line("network", std::string(network::ToText(configured.network.level)));
  for (const std::string& rule : configured.network.rules) line("allowed", rule);
  line("code", Started(environment));
  if (!environment.shell.empty()) line("shell", Joined(environment.shell, " "));
  if (const auto* conveniences = environment::ConveniencesOf(environment)) {
    line("added", std::string(conveniences->description) + " (conveniences = true)");
  }
  for (const auto& [name, value] : VariablesOf(configured)) {
    line("variable", fmt::format("{}={}", name, value));
  }
  if (!configured.inherit.empty()) line("inherited", Joined(configured.inherit, ", "));
  const sandbox::Limits& limits = environment.limits;
  line("time", Seconds(static_cast<double>(limits.time_ms) / 1000.0));
  if (limits.cpu_seconds != 0) line("cpu time", Seconds(static_cast<double>(limits.cpu_seconds)));
  line("memory", HumanBytes(limits.memory_bytes));
  if (limits.millicpus != 0) line("cpus", CpusText(limits.millicpus));
  line("processes", std::to_string(limits.processes));
  line("open files", std::to_string(limits.open_files));
  line("file size", HumanBytes(limits.file_bytes));
  line("disk", fmt::format("{}, {} files", HumanBytes(environment.room.disk_bytes),
                           environment.room.disk_files));
  line("output kept", HumanBytes(environment.room.output_bytes));
  for (const sandbox::HostTree* tree : SourcesOf(environment)) {
    line("read-only",
         (tree->source == tree->target ? tree->target : tree->target + " <- " + tree->source) +
             Because(tree->target));
  }
  for (const sandbox::Link* link : LinksOfEtc(environment)) {
    line("link", link->path + " -> " + link->points_to + Because(link->path));
  }
  if (!config.project.path.empty()) {
    line("project", fmt::format("{} <- {} ({})", config.project.mount_point, config.project.path,
                                config::Name(config.project.mode)));
    for (const auto& [pattern, why] : RulesOf(configured.hidden)) {
      line("hidden", fmt::format("{}  ({})", pattern, why));
    }
    for (const std::string& glob : configured.hidden.show) line("not hidden", glob);
  }
  for (const std::string& note : environment.notes) line("note", note);
}

json::object LimitsJson(const Environment& environment) {
  const sandbox::Limits& limits = environment.limits;
  const environment::Room& room = environment.room;
  return {
      {"time_ms", limits.time_ms},
      {"cpu_ms",
       limits.cpu_seconds == 0 ? json::value(nullptr) : json::value(limits.cpu_seconds * 1000)},
      {"memory_bytes", limits.memory_bytes},
      {"millicpus", limits.millicpus == 0 ? json::value(nullptr) : json::value(limits.millicpus)},
      {"processes", limits.processes},
      {"open_files", limits.open_files},
      {"file_bytes", limits.file_bytes},
      {"disk_bytes", room.disk_bytes},
      {"disk_files", room.disk_files},
      {"output_bytes", room.output_bytes}};
}

void ShowJson(const Configured& configured, const Config& config, Console& console) {
  const Environment& environment = configured.environment;
  json::object variables;
  for (const auto& [name, value] : VariablesOf(configured)) {
    variables[ToUtf8(name)] = ToUtf8(value);
  }
  json::array sources;
  for (const sandbox::HostTree* tree : SourcesOf(environment)) {
    json::object row{{"source", ToUtf8(tree->source)}, {"target", ToUtf8(tree->target)}};
    const std::string_view why = environment::WhyInEtc(tree->target);
    if (!why.empty()) row["reason"] = why;
    sources.push_back(std::move(row));
  }
  json::array links;
  for (const sandbox::Link* link : LinksOfEtc(environment)) {
    links.push_back(json::object{{"path", ToUtf8(link->path)},
                                 {"points_to", ToUtf8(link->points_to)},
                                 {"reason", environment::WhyInEtc(link->path)}});
  }
  json::object document{{"name", environment.name},
                        {"aliases", Texts(environment.aliases)},
                        {"description", ToUtf8(environment.description)},
                        {"provider", environment.provider},
                        {"backend", std::string(configured.backend->name)},
                        {"network", std::string(network::ToText(configured.network.level))},
                        {"allowed", Texts(configured.network.rules)},
                        {"interpreter", Texts(environment.interpreter)},
                        {"code_file", environment.code_file},
                        {"shell", Texts(environment.shell)},
                        {"conveniences", environment::ConveniencesOf(environment) != nullptr},
                        {"variables", std::move(variables)},
                        {"inherited", Texts(configured.inherit)},
                        {"limits", LimitsJson(environment)},
                        {"sources", std::move(sources)},
                        {"links", std::move(links)},
                        {"project", nullptr},
                        {"notes", Texts(environment.notes)}};
  if (!environment.source.empty()) document["source"] = ToUtf8(environment.source);
  if (!environment.locked.empty()) document["locked"] = ToUtf8(environment.locked);
  if (!config.project.path.empty()) {
    document["project"] = json::object{{"path", ToUtf8(config.project.path)},
                                       {"mode", std::string(config::Name(config.project.mode))},
                                       {"mount_point", ToUtf8(config.project.mount_point)},
                                       {"hidden", RulesJson(configured.hidden)},
                                       {"show_hidden", Texts(configured.hidden.show)}};
  }
  console.Out(json::serialize(document) + "\n");
}

Result<int> List(const ParsedArgs& args, Console& console) {
  if (args.words.size() > 1) {
    return Fail(Errc::kInvalidArgument, "'igloo env list' takes no names",
                "for one of them: igloo env show " + ShellQuote(args.words[1]));
  }
  IGLOO_ASSIGN(const Config config, ReadConfig(args, ProjectUse::kNames, console));
  const service::Listed listed = service::ListEnvironments(config);
  if (args.Has("--names")) {
    std::string names;
    for (const Listing& each : listed.environments) {
      if (each.unavailable) continue;
      names += each.name + "\n";
      for (const std::string& alias : each.aliases) {
        if (config.environments.contains(alias)) names += alias + "\n";
      }
    }
    console.Out(names);
  } else if (args.Has("--json")) {
    ListJson(listed, console);
  } else {
    ListText(listed, console);
    ReportProblems(listed.problems, console);
  }
  return 0;
}

Result<int> ShowOne(const ParsedArgs& args, Console& console) {
  if (args.words.size() != 2) {
    return Fail(Errc::kInvalidArgument, "'igloo env show' takes the name of one environment",
                "for example: igloo env show python");
  }
  IGLOO_ASSIGN(const Config config, ReadConfig(args, ProjectUse::kNames, console));
  const Catalogue catalogue = service::ReadEnvironments(config);
  const auto configured = catalogue.Find(args.words[1]);
  if (!configured) {
    // The name may be one of those that were skipped.
    if (!args.Has("--json")) ReportProblems(catalogue.problems(), console);
    return std::unexpected(configured.error());
  }
  if (args.Has("--json")) {
    ShowJson(*configured, config, console);
  } else {
    ShowText(*configured, config, console);
  }
  return 0;
}

Result<int> RunEnv(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const std::string_view word, TakeWord(kEnvCommand, args));
  constexpr std::pair<std::string_view, Result<int> (*)(const ParsedArgs&, Console&)> kRows[] = {
      {"list", List},        {"show", ShowOne},     {"add", EnvAdd}, {"build", EnvBuild},
      {"update", EnvUpdate}, {"remove", EnvRemove}, {"gc", EnvGc},   {"pull", PullImage}};
  const auto row = std::ranges::find(kRows, word, [](const auto& each) { return each.first; });
  return row->second(args, console);
}

constexpr Flag kFlags[] = {
    {"--json", "", "print one JSON document"},
    {"--names", "",
     "print names and nothing else; with list: what can be used; with build, update and remove: "
     "what they take"},
    {"--name", "NAME",
     "with add: what it is called, instead of what the flake calls it; with pull: print the "
     "section of a configuration that makes it NAME"},
    {"--progress-fd", "FD",
     "with build: write what Nix says to this descriptor, for programs: a name, a tab, a line"},
    {"--collect", "", "with gc: have Nix delete what nothing needs any more, too"},
    {"--project", "DIR", "with the environments of DIR/igloo.toml, if it is trusted",
     Values::kDirectory},
    {"--config", "FILE", "configuration, instead of the one in the usual place", Values::kFile}};
constexpr Word kWords[] = {
    {"list", "every environment, and why one cannot be used"},
    {"show", "one environment: programs, variables, limits, sources", Values::kEnvironment},
    {"add", "have Nix make an environment of a flake, and keep it"},
    {"build", "make what Nix has not made yet: all, or those named", Values::kEnvironment, "build"},
    {"update", "the same with the newest of what their flakes name", Values::kEnvironment,
     "update"},
    {"remove", "forget one that was added, or an image", Values::kEnvironment, "remove"},
    {"gc", "remove what this configuration does not name"},
    {"pull", "fetch or unpack an image, so that 'image = \"REF\"' works"}};

}  // namespace

const Command kEnvCommand = {
    .name = "env",
    .summary = "list environments, show one, have Nix make one, or fetch an image",
    .usage =
        "(list | show NAME | add FLAKE | build [NAME...] | update [NAME...] | remove NAME | gc | "
        "pull REF) [OPTIONS]",
    .flags = kFlags,
    .words = kWords,
    .details =
        "Environments come from the host's /usr, from directories that mkSandbox made, in\n"
        "~/.config/igloo/environments, NIX_SANDBOX_DIR, ~/.config/nix-sandbox-mcp/sandboxes and\n"
        "what igloo was installed with, and from the configuration. Of one name the\n"
        "configuration's is the one that counts, then one that was added, then the directory.\n"
        "'add', 'flake = ...' in the configuration and NIX_SANDBOX_ENVS (flakes with commas\n"
        "between them) have Nix build a package, pinned in a lock of its own: it stays the same\n"
        "until 'update'. An environment that is not there yet is built when it is first used.\n"
        "An image that 'image = ...' names is fetched by 'pull' alone, with skopeo; one on this\n"
        "machine (oci:PATH, oci-archive:PATH) is unpacked by it, or when it is first used.\n"
        "'gc' goes by the configuration and the NIX_SANDBOX_ENVS that it is given: what only\n"
        "another --config or another value names is removed, and so is an image of a path that no\n"
        "section names. What was added, or fetched from a registry, stays until 'remove'.\n\n"
        "Examples:\n"
        "  igloo env add nixpkgs#ripgrep\n"
        "  igloo env add github:owner/repo#tools --name tools\n"
        "  igloo env update tools\n"
        "  igloo env gc --collect\n",
    .run = RunEnv,
};

}  // namespace igloo::cli
