#include "cli/agent/check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <set>
#include <span>

#include "agent/program.h"
#include "agent/state/guarded.h"
#include "backend/registry.h"
#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "cli/doctor/machine.h"
#include "cli/doctor/probe.h"
#include "environment/device.h"
#include "service/caller.h"
#include "service/programs.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;
using State = Finding::State;

Finding Good(std::string name, std::string detail) {
  return {.name = std::move(name), .detail = std::move(detail)};
}

Finding Lacking(std::string name, std::string detail, std::string fix, bool required) {
  return {.name = std::move(name),
          .state = State::kMissing,
          .detail = std::move(detail),
          .fix = std::move(fix),
          .required = required};
}

bool IsThere(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// The version of an npm package, from its own description: nothing is started for it.
std::string PackageVersion(const std::string& program) {
  for (std::size_t end = program.rfind('/'); end != 0 && end != std::string::npos;
       end = program.rfind('/', end - 1)) {
    const std::string directory = program.substr(0, end);
    if (directory.ends_with("/node_modules")) break;
    const auto text = ReadFile(directory + "/package.json", 1U << 20);
    if (!text) continue;
    boost::system::error_code error;
    const json::value value = json::parse(*text, error);
    const json::object* object = error ? nullptr : value.if_object();
    const json::value* version = object != nullptr ? object->if_contains("version") : nullptr;
    if (version != nullptr && version->is_string()) return std::string(version->get_string());
  }
  return {};
}

Finding FindAgentProgram(const LaunchRequest& request, const agent::Owner& owner) {
  const agent::Profile* profile = request.profile;
  const std::string name = profile != nullptr ? std::string(profile->program) : request.program;
  const agent::ProgramSearch search{.path = owner.path, .home = owner.home};
  const auto found = agent::ResolveProgram(name, search, profile != nullptr ? profile->install : "",
                                           agent::TheHost());
  if (!found) return Lacking("program", found.error().what, found.error().hint, true);
  const std::string version = PackageVersion(found->path);
  return Good("program", found->path + (version.empty() ? "" : " (" + version + ")"));
}

Finding FindGit() {
  const std::string path = FindInPath("git");
  if (!path.empty()) return Good("git", path);
  return Lacking("git", "not installed: the agent cannot commit", "apt install git", false);
}

Finding LookAtProject(const LaunchRequest& request) {
  const auto project = FindProject(request.project);
  if (!project) return Lacking("project", project.error().what, project.error().hint, true);
  const auto tree = environment::FindWorkTree(*project);
  if (!tree) return Lacking("project", tree.error().what, tree.error().hint, true);
  return Good("project", *project + (tree->common.empty() ? ", no git repository"
                                     : tree->linked() ? ", linked to the repository " + tree->common
                                                      : ", a git repository"));
}

std::span<const agent::FileRule> FilesOf(const agent::Profile& profile) {
  const agent::AgentFiles* files = agent::FindAgentFiles(profile.files_of);
  return files != nullptr ? files->files : std::span<const agent::FileRule>();
}

/// Whoever has neither a key nor a sign-in is asked by the agent itself.
Finding FindAccount(const agent::Profile& profile, const std::string& home) {
  std::string wanted;
  for (const agent::ApiKey& key : profile.keys) {
    const auto value = service::CallersVariable(std::string(key.variable));
    if (value && !value->empty()) return Good("account", std::string(key.variable) + " is set");
    wanted += (wanted.empty() ? "set " : " or ") + std::string(key.variable);
  }
  for (const agent::FileRule& rule : FilesOf(profile)) {
    const std::string path = home + "/" + std::string(rule.path);
    if (rule.is_secret && IsThere(path)) return Good("account", "a sign-in, in " + path);
  }
  return Lacking("account", "no key and no sign-in", wanted + ", or sign in when it asks", false);
}

Finding FindStateOf(const agent::Profile& profile, const std::string& home) {
  std::set<std::string> there;
  for (const agent::FileRule& rule : FilesOf(profile)) {
    const std::string_view first = rule.path.substr(0, rule.path.find('/'));
    if (IsThere(home + "/" + std::string(first))) there.insert("~/" + std::string(first));
  }
  std::string names;
  for (const std::string& each : there) names += (names.empty() ? "" : " ") + each;
  return Good("state", names.empty() ? "none yet" : names);
}

/// One line if all is well, else one for each wall that does not stand.
std::vector<Finding> TryWalls() {
  const auto programs = service::FindPrograms();
  if (!programs) return {Lacking("walls", programs.error().what, programs.error().hint, true)};
  const auto backend = backend::Make(wall::kDefault, {.programs = *programs});
  if (!backend) return {Lacking("walls", backend.error().what, backend.error().hint, true)};
  std::vector<Finding> findings = ProbeWalls("", **backend, wall::kDefault.can, true);
  const cgroup::Found groups = cgroup::Find();
  Finding limits = ProbeGroups(**backend, groups);
  if (groups.kind == cgroup::Kind::kNone) limits.detail = "none: see 'igloo doctor'";
  const std::size_t all = findings.size();
  std::erase_if(findings, [](const Finding& each) { return each.state == State::kGood; });
  if (findings.empty()) findings.push_back(Good("walls", fmt::format("all {} stand", all)));
  findings.push_back(std::move(limits));
  return findings;
}

Finding FindDevice() {
  const auto device = environment::FindDevice("");
  if (device) return Good("device", "by " + device->carrier);
  return Lacking("device",
                 device.error().what + ": only programs that use the proxy reach anything",
                 device.error().hint, false);
}

/// What a line begins with: as the doctor means it, in the words of the older tools.
std::string_view Mark(const Finding& finding) {
  if (finding.state == State::kGood) return "OK";
  return finding.required || finding.state == State::kBroken ? "FAIL" : "WARN";
}

std::string AsText(const std::vector<Finding>& findings, const Console& console) {
  std::string text;
  for (const Finding& each : findings) {
    const std::string_view mark = Mark(each);
    const auto tone = mark == "OK"     ? Console::Tone::kGood
                      : mark == "WARN" ? Console::Tone::kWarn
                                       : Console::Tone::kBad;
    text += fmt::format("{} {:<12} {}\n", console.Paint(tone, fmt::format("{:<4}", mark)),
                        each.name, Printable(each.detail));
    if (!each.fix.empty()) text += fmt::format("     fix: {}\n", Printable(each.fix));
  }
  return text;
}

std::string AsJson(const std::vector<Finding>& findings, bool passed) {
  json::array rows;
  for (const Finding& each : findings) {
    rows.push_back(json::object{{"name", each.name},
                                {"state", Mark(each)},
                                {"detail", ToUtf8(each.detail)},
                                {"fix", ToUtf8(each.fix)}});
  }
  return json::serialize(json::object{{"passed", passed}, {"checks", std::move(rows)}}) + "\n";
}

}  // namespace

Result<int> CheckBox(const ParsedArgs& args, const LaunchRequest& request, Console& console) {
  IGLOO_ASSIGN(const agent::Owner owner, ReadOwner());
  std::vector<Finding> findings = {FindAgentProgram(request, owner), LookAtProject(request),
                                   FindGit()};
  if (request.profile != nullptr) {
    findings.push_back(FindAccount(*request.profile, owner.home));
    findings.push_back(FindStateOf(*request.profile, owner.home));
  }
  std::ranges::move(TryWalls(), std::back_inserter(findings));
  findings.push_back(FindDevice());
  const bool passed =
      std::ranges::none_of(findings, [](const Finding& each) { return Mark(each) == "FAIL"; });
  if (args.Has("--json")) {
    console.Out(AsJson(findings, passed));
  } else {
    console.Out(AsText(findings, console) +
                (passed ? "All checks passed.\n" : "Some checks failed.\n"));
  }
  return passed ? 0 : 1;
}

}  // namespace igloo::cli
