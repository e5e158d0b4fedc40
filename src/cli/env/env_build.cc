// What has Nix make environments: 'igloo env add', 'build' and 'update'.

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "cli/env/env_commands.h"
#include "cli/progress.h"
#include "config/problem.h"
#include "environment/host.h"
#include "environment/names.h"
#include "nix/build.h"
#include "service/flakes.h"
#include "service/places.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;
using config::Config;

/// What became of one environment.
struct Outcome {
  std::string name = {};
  nix::Built before = {};
  Result<nix::Built> built = {};
};

/// Where programs are told what Nix says; -1: nowhere.
Result<int> ProgressFd(const ParsedArgs& args) {
  const auto text = args.Get("--progress-fd");
  if (!text) return -1;
  int fd = -1;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), fd);
  const bool number = error == std::errc() && end == text->data() + text->size();
  // SECURITY: Nix and what it builds with do not get it.
  if (!number || fd < 3 || ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(*text) + "' is no open descriptor above 2",
                "leave out --progress-fd; it is for programs");
  }
  return fd;
}

/// Whoever listens may have gone, or be slow; a build does not wait for them.
void TellPrograms(int fd, const std::string& name, std::string_view line) {
  if (fd < 0) return;
  static_cast<void>(WriteAll(fd, name + "\t" + Printable(line) + "\n"));
}

Outcome BuildOne(const nix::Settings& settings, const service::Flake& flake, nix::Pins pins,
                 int told, Console& console) {
  Outcome outcome{.name = flake.name};
  if (!flake.wanted) {
    outcome.built = std::unexpected(flake.wanted.error());
    return outcome;
  }
  if (auto before = nix::Place(settings, flake.wanted->key).ReadRecord().built) {
    outcome.before = *std::move(before);
  }
  Progress progress(console, "building '" + flake.name + "'");
  outcome.built =
      nix::Build(settings, *flake.wanted, {.pins = pins, .progress = [&](std::string_view line) {
                                             progress.Show(line);
                                             TellPrograms(told, flake.name, line);
                                           }});
  return outcome;
}

void Print(const Outcome& outcome, Console& console) {
  if (!outcome.built) {
    Error error = outcome.built.error();
    error.what = "environment '" + outcome.name + "': " + error.what;
    console.Report(error);
    return;
  }
  const nix::Built& now = *outcome.built;
  const bool same = now.out == outcome.before.out;
  const std::string pinned = Printable(now.locked);
  if (same && now.locked == outcome.before.locked) {
    console.Out(fmt::format("{}: unchanged, {}\n", outcome.name, pinned));
  } else if (!outcome.before.locked.empty() && now.locked != outcome.before.locked) {
    console.Out(
        fmt::format("{}: {} -> {}\n", outcome.name, Printable(outcome.before.locked), pinned));
  } else {
    console.Out(fmt::format("{}: built from {}\n", outcome.name, pinned));
  }
}

json::object ToObject(const Outcome& outcome) {
  json::object row{{"name", outcome.name}, {"available", outcome.built.has_value()}};
  if (outcome.built) {
    row["source"] = outcome.built->reference;
    row["locked"] = outcome.built->locked;
    row["path"] = ToUtf8(outcome.built->prefix) + outcome.built->out;
    row["changed"] = outcome.built->out != outcome.before.out;
  } else {
    const Error& error = outcome.built.error();
    row["error"] = json::object{{"what", ToUtf8(error.what)}, {"hint", ToUtf8(error.hint)}};
  }
  return row;
}

/// All of them are tried; any that failed makes the command fail.
int Finish(const std::vector<Outcome>& outcomes, const ParsedArgs& args, Console& console) {
  if (args.Has("--json")) {
    json::array rows;
    for (const Outcome& each : outcomes) rows.push_back(ToObject(each));
    console.Out(json::serialize(json::object{{"environments", std::move(rows)}}) + "\n");
  } else {
    for (const Outcome& each : outcomes) Print(each, console);
  }
  const bool fine =
      std::ranges::all_of(outcomes, [](const Outcome& each) { return each.built.has_value(); });
  return fine ? 0 : kExitFailed;
}

/// Those that are named, or all.
Result<std::vector<service::Flake>> Chosen(const ParsedArgs& args, const Config& config) {
  std::vector<service::Flake> all = service::FlakesOf(config);
  if (args.words.size() < 2) return all;
  std::vector<service::Flake> chosen;
  for (std::size_t i = 1; i < args.words.size(); ++i) {
    const std::string name = config::Canonical(config, args.words[i]);
    const auto found = std::ranges::find(all, name, &service::Flake::name);
    if (found == all.end()) {
      return Fail(Errc::kNotFound,
                  "'" + Printable(args.words[i]) + "' is no environment that Nix makes",
                  "igloo env list shows what there is; igloo env add FLAKE adds one");
    }
    chosen.push_back(*found);
  }
  return chosen;
}

Result<int> BuildAll(const ParsedArgs& args, nix::Pins pins, Console& console) {
  IGLOO_ASSIGN(const Config config, ReadConfig(args, ProjectUse::kNames, console));
  IGLOO_ASSIGN(const std::vector<service::Flake> flakes, Chosen(args, config));
  IGLOO_ASSIGN(const nix::Settings settings, service::NixSettings(config));
  if (flakes.empty() && !args.Has("--json")) {
    console.Note("no environment is made by Nix; igloo env add FLAKE adds one");
  }
  IGLOO_ASSIGN(const int told, ProgressFd(args));
  std::vector<Outcome> outcomes;
  for (const service::Flake& flake : flakes) {
    outcomes.push_back(BuildOne(settings, flake, pins, told, console));
    const Result<nix::Built>& built = outcomes.back().built;
    if (!built && built.error().sys_errno == EINTR) break;
  }
  return Finish(outcomes, args, console);
}

/// Whether an environment may be called so.
Result<void> CheckNewName(const std::string& name, const ParsedArgs& args, const Config& config,
                          const nix::Reference& reference, const nix::Settings& settings) {
  if (!environment::IsName(name)) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(name) + "' cannot be a name",
                std::string(environment::kNameRule));
  }
  if (const auto own = config.environments.find(name);
      own != config.environments.end() && !own->second.file.empty()) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("environment '{}' is already configured at {}", name,
                            config::Place(own->second.file, own->second.where)),
                "choose another name with --name");
  }
  const bool preset = environment::FindHostEnvironment(name) != nullptr;
  if (preset && !args.Has("--name")) {
    return Fail(Errc::kInvalidArgument,
                "'" + name + "' is the name of an environment of igloo's own",
                "choose another with --name, or write --name " + name + " to use yours instead");
  }
  const auto added = nix::Place(settings, name).ReadAdded();
  if (added && *added != ToText(reference)) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("environment '{}' was added already, from {}", name, Printable(*added)),
                "choose another name with --name, or first: igloo env remove " + ShellQuote(name));
  }
  return {};
}

/// By then there is nothing that 'igloo env build' knows.
std::string AddHint(const ParsedArgs& args) {
  const auto name = args.Get("--name");
  return "correct it or try again: igloo env add " + ShellQuote(args.words[1]) +
         (name ? " --name " + ShellQuote(*name) : "");
}

/// For shells: what 'build' and 'update' take. Looks at nothing but the configuration.
Result<int> PrintNames(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const Config config, ReadConfig(args, ProjectUse::kNames, console));
  std::string names;
  for (const service::Flake& flake : service::FlakesOf(config)) names += flake.name + "\n";
  console.Out(names);
  return 0;
}

}  // namespace

Result<int> EnvBuild(const ParsedArgs& args, Console& console) {
  if (args.Has("--names")) return PrintNames(args, console);
  return BuildAll(args, nix::Pins::kKeep, console);
}

Result<int> EnvUpdate(const ParsedArgs& args, Console& console) {
  if (args.Has("--names")) return PrintNames(args, console);
  return BuildAll(args, nix::Pins::kRenew, console);
}

Result<int> EnvAdd(const ParsedArgs& args, Console& console) {
  if (args.words.size() != 2) {
    return Fail(Errc::kInvalidArgument, "'igloo env add' takes one flake",
                "for example: igloo env add nixpkgs#ripgrep");
  }
  std::error_code failure;
  const std::string here = std::filesystem::current_path(failure).string();
  IGLOO_ASSIGN(const nix::Reference reference, nix::ParseReference(args.words[1], here));
  IGLOO_ASSIGN(const Config config, ReadConfig(args, ProjectUse::kNames, console));
  IGLOO_ASSIGN(const nix::Settings settings, service::NixSettings(config));
  const std::string name = args.Get("--name").value_or(nix::NameFor(reference));
  IGLOO_TRY(CheckNewName(name, args, config, reference, settings));
  IGLOO_TRY(service::StatePlace());
  const nix::Place place(settings, name);
  const bool fresh = !place.ReadAdded();
  IGLOO_TRY(place.Make());
  // First of all: a server looks when the record changes, and then it must know the name.
  IGLOO_TRY(place.WriteAdded(ToText(reference)));
  service::Flake flake{.name = name,
                       .wanted = nix::Wanted{.key = name, .name = name, .reference = reference}};
  Outcome outcome = BuildOne(settings, flake, nix::Pins::kKeep, -1, console);
  if (!outcome.built) {
    Error error = std::move(outcome.built).error();
    // What was never there does not become a broken one.
    if (fresh) (void)place.Remove();
    if (fresh && error.hint == nix::AgainHint(*flake.wanted)) error.hint = AddHint(args);
    return Wrap("'" + ToText(reference) + "' was not added", std::move(error));
  }
  return Finish({std::move(outcome)}, args, console);
}

}  // namespace igloo::cli
