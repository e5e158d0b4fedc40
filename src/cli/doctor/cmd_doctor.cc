#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>

#include "backend/registry.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "cli/doctor/machine.h"
#include "cli/doctor/probe.h"
#include "cli/doctor/weaker.h"
#include "cli/mcp/check_mcp.h"
#include "service/environments.h"
#include "service/programs.h"

namespace igloo::cli {
namespace {

using State = Finding::State;

Finding Missing(std::string name, const Error& error, bool required) {
  return {.name = std::move(name),
          .state = State::kMissing,
          .detail = error.what,
          .fix = error.hint,
          .required = required};
}

void Append(std::vector<Finding>& all, std::vector<Finding> more) {
  std::ranges::move(more, std::back_inserter(all));
}

/// Without a configuration that can be read nothing runs, so it is as needed as a wall.
std::vector<Finding> FindEnvironments(const Result<config::Config>& config) {
  if (!config) return {Missing("configuration", config.error(), true)};
  std::vector<Finding> findings = {
      {.name = "configuration",
       .detail = config->file.empty() || config->out_of_reach ? "none" : config->file}};
  for (const environment::Listing& each : service::ReadEnvironments(*config).List()) {
    const std::string name = "environment " + each.name;
    findings.push_back(each.unavailable ? Missing(name, *each.unavailable, each.name == "shell")
                                        : Finding{.name = name, .detail = each.description});
  }
  return findings;
}

/// What is weaker here. Nothing is refused for it, so it is said before everything else.
std::vector<Finding> SayWeaknesses(const cgroup::Found& groups, Result<backend::HostIds> ids) {
  std::vector<Finding> findings;
  for (const Weakness& each : FindWeaknesses(LookAtSupport(groups, std::move(ids)))) {
    findings.push_back({.name = "weaker " + each.name,
                        .state = State::kMissing,
                        .detail = "without " + each.missing + ": " + each.weaker,
                        .fix = each.fix,
                        .required = false});
  }
  return findings;
}

using Ids = Result<backend::HostIds>;

/// The ids that sandboxes of a server may have; none: their starter's.
backend::IdRange IdsOf(const Ids& ids) { return ids ? ids->users : backend::IdRange{}; }

Finding DescribeIds(const Ids& ids) {
  constexpr const char* kName = "subordinate ids";
  if (!ids) return Missing(kName, ids.error(), false);
  if (ids->kind == backend::HostIds::Kind::kStarters) return Missing(kName, ids->why, false);
  if (ids->kind == backend::HostIds::Kind::kOwn) {
    return {.name = kName, .detail = "not needed: root gives each sandbox an id of its own"};
  }
  return {.name = kName,
          .detail = fmt::format("{}-{}, each for one sandbox of a server at a time",
                                ids->users.first, ids->users.first + ids->users.count - 1)};
}

using Prepared = Result<std::unique_ptr<backend::Backend>>;

/// What a server makes its sandboxes with.
Prepared MakePrepared(const Result<backend::Programs>& programs) {
  if (!programs) return std::unexpected(programs.error());
  return backend::Make(wall::kDefault, {.programs = *programs, .mode = backend::Mode::kPrepared});
}

/// Single sandboxes behind a wall. igloo is of use without all but the usual one.
std::vector<Finding> ProbeCold(const wall::Wall& wall, const backend::Programs& programs,
                               const cgroup::Found& groups) {
  const bool required = &wall == &wall::kDefault;
  const std::string name(wall.name);
  std::string said;
  const auto cold = backend::Make(
      wall, {.programs = programs, .note = [&said](std::string_view text) { said = text; }});
  if (!cold) return {Missing(name, cold.error(), required)};
  std::vector<Finding> all = ProbeWalls(name + ": ", **cold, wall.can, required);
  if (required) all.push_back(ProbeGroups(**cold, groups));
  if (wall.can.views) {
    for (Finding each : {ProbeView(**cold), ProbeOverlay(**cold)}) {
      if (!required) each.name.insert(0, name + ": ");
      all.push_back(std::move(each));
    }
  }
  if (!said.empty()) {
    all.push_back(
        {.name = name, .state = State::kMissing, .detail = std::move(said), .required = false});
  }
  return all;
}

std::vector<Finding> FindAll(const ParsedArgs& args, Console& console) {
  const cgroup::Found groups = cgroup::Find();
  const auto config = ReadConfig(args, ProjectUse::kNames, console);
  auto programs = service::FindPrograms();
  if (programs && config) programs->kernel = config->kernel;
  const Prepared prepared = MakePrepared(programs);
  const Ids ids = prepared ? (*prepared)->host_ids() : std::unexpected(prepared.error());
  std::vector<Finding> all = SayWeaknesses(groups, ids);
  utsname kernel{};
  ::uname(&kernel);
  all.push_back({.name = "kernel", .detail = fmt::format("Linux {}", kernel.release)});
  const char* path = std::getenv("PATH");
  Append(all,
         LookAtMachine({.search_path = path != nullptr ? path : "", .is_root = ::geteuid() == 0}));
  Append(all, FindEnvironments(config));
  if (!programs) {
    all.push_back(Missing("programs", programs.error(), true));
    return all;
  }
  all.push_back({.name = "programs", .detail = programs->jail});
  for (const wall::Wall& each : wall::All()) {
    if (!each.served) continue;
    Append(all, ProbeCold(each, *programs, groups));
    const bool usual = &each == &wall::kDefault;
    if (!usual || !prepared) continue;
    all.push_back(DescribeIds(ids));
    Append(all, ProbeWalls("prepared: ", **prepared, each.can, true, IdsOf(ids)));
  }
  all.push_back(ProbeServer(args, console));
  return all;
}

bool Usable(const std::vector<Finding>& findings) {
  // A hole counts wherever it is; a missing extra does not.
  return std::ranges::none_of(findings, [](const Finding& finding) {
    return finding.state == State::kBroken ||
           (finding.state == State::kMissing && finding.required);
  });
}

std::string_view Name(State state) {
  switch (state) {
    case State::kGood:
      return "ok";
    case State::kMissing:
      return "missing";
    case State::kBroken:
      return "BROKEN";
  }
  return "?";
}

void PrintText(const std::vector<Finding>& findings, Console& console) {
  for (const Finding& finding : findings) {
    const auto tone = finding.state == State::kGood      ? Console::Tone::kGood
                      : finding.state == State::kMissing ? Console::Tone::kWarn
                                                         : Console::Tone::kBad;
    console.Out(fmt::format("{} {:<36} {}\n",
                            console.Paint(tone, fmt::format("{:<7}", Name(finding.state))),
                            finding.name, Printable(finding.detail)));
    if (!finding.fix.empty()) console.Out(fmt::format("        fix: {}\n", finding.fix));
  }
  console.Out(Usable(findings)
                  ? "\nEvery wall stands. Try: igloo run --env python 'print(6 * 7)'\n"
                  : "\nThis machine cannot build every wall yet; igloo refuses to run without.\n");
}

void PrintJson(const std::vector<Finding>& findings, Console& console) {
  namespace json = boost::json;
  json::array rows;
  for (const Finding& finding : findings) {
    rows.push_back(json::object{{"name", finding.name},
                                {"state", std::string(Name(finding.state))},
                                {"detail", ToUtf8(finding.detail)},
                                {"fix", ToUtf8(finding.fix)},
                                {"required", finding.required}});
  }
  const json::object document{{"usable", Usable(findings)}, {"findings", std::move(rows)}};
  console.Out(json::serialize(document) + "\n");
}

Result<int> RunDoctor(const ParsedArgs& args, Console& console) {
  if (!args.words.empty() || args.rest) {
    return Fail(Errc::kInvalidArgument, "'igloo doctor' takes no words",
                "see 'igloo doctor --help'");
  }
  const std::vector<Finding> findings = FindAll(args, console);
  if (args.Has("--json")) {
    PrintJson(findings, console);
  } else {
    PrintText(findings, console);
  }
  return Usable(findings) ? 0 : 1;
}

constexpr Flag kFlags[] = {
    {"--json", "", "print one JSON document"},
    {"--config", "FILE", "configuration, instead of the one in the usual place", Values::kFile}};

}  // namespace

const Command kDoctorCommand = {
    .name = "doctor",
    .summary = "try every wall on this machine and say how to mend what is missing",
    .usage = "[OPTIONS]",
    .flags = kFlags,
    .words = {},
    .details = "Exit code 0: every required wall stands. 1: something is missing or broken.\n",
    .run = RunDoctor,
};

}  // namespace igloo::cli
