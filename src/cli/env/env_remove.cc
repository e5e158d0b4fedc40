// What takes environments that Nix made away again: 'igloo env remove' and 'gc'.

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "cli/env/env_commands.h"
#include "cli/progress.h"
#include "config/problem.h"
#include "environment/names.h"
#include "nix/command.h"
#include "service/flakes.h"
#include "service/images.h"
#include "service/places.h"
#include "service/sandbox_images.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;
using config::Config;

constexpr const char* kFreeHint =
    "what it was made of stays in the store until Nix collects it: igloo env gc --collect";

/// A project that is still there and trusted may be used again tomorrow.
bool KeptForProject(const std::string& project) {
  if (project.empty()) return false;
  config::TrustDirectory store(config::StateDirectory(service::ReadVariables()) + "/trust");
  const auto file = store.Find(project);
  const auto flake = store.Find(project + "/flake.nix");
  std::error_code ignored;
  return std::filesystem::exists(project, ignored) && ((file && *file) || (flake && *flake));
}

/// Directories that were taken out of the way, whose removal was interrupted.
void SweepRemoved(const nix::Settings& settings) {
  std::vector<std::filesystem::path> left;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(settings.home, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (at->path().filename().native().starts_with(".removed-")) left.push_back(at->path());
  }
  for (const auto& each : left) std::filesystem::remove_all(each, failure);
}

struct Collected {
  std::vector<std::string> removed = {};
  std::vector<std::pair<std::string, Error>> kept = {};
};

Collected Collect(const Config& config, const nix::Settings& settings) {
  std::set<std::string> wanted;
  for (const service::Flake& flake : service::FlakesOf(config)) {
    // One that is not even asked for keeps its place: the reason may go away again.
    wanted.insert(flake.wanted ? flake.wanted->key : flake.name);
  }
  Collected collected;
  for (const std::string& key : nix::Keys(settings)) {
    const nix::Place place(settings, key);
    const nix::Record record = place.ReadRecord();
    const bool named = wanted.contains(key) || place.ReadAdded() || KeptForProject(record.project);
    if (named) {
      const auto lock = place.Lock(nix::Place::Wait::kNo);
      if (lock && record.built) place.DropLinks(place.link(record.built->out));
    } else if (auto removed = place.Remove(); removed) {
      collected.removed.push_back(key);
    } else {
      collected.kept.emplace_back(key, std::move(removed).error());
    }
  }
  SweepRemoved(settings);
  return collected;
}

/// Nix's last line: "12 store paths deleted, 3.00 MiB freed".
Result<std::string> RunCollector(const nix::Settings& settings, Console& console) {
  std::string last;
  Progress progress(console, "collecting");
  IGLOO_ASSIGN(const std::string out, nix::Call(settings, {.program = nix::Program::kStore,
                                                           .args = {"--gc"},
                                                           .progress = [&](std::string_view line) {
                                                             progress.Show(line);
                                                             last = line;
                                                           }}));
  // What was deleted stands on one stream or the other, by the version of Nix.
  const std::size_t end = out.find_last_not_of('\n');
  if (end != std::string::npos && out.substr(0, end + 1).contains("freed")) {
    last = out.substr(0, end + 1);
    last.erase(0, last.rfind('\n') + 1);
  }
  return last;
}

/// For shells: what was added, unless a file has the last word on its name.
Result<int> PrintAdded(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const Config config, ReadConfig(args, ProjectUse::kNames, console));
  IGLOO_ASSIGN(const nix::Settings settings, service::NixSettings(config));
  std::string names;
  for (const nix::Wanted& added : nix::Added(settings)) {
    const auto own = config.environments.find(added.name);
    const bool in_file = own != config.environments.end() && !own->second.file.empty();
    if (!in_file) names += added.name + "\n";
  }
  console.Out(names);
  return 0;
}

}  // namespace

Result<int> EnvRemove(const ParsedArgs& args, Console& console) {
  if (args.Has("--names")) return PrintAdded(args, console);
  if (args.words.size() != 2) {
    return Fail(Errc::kInvalidArgument, "'igloo env remove' takes the name of one environment",
                "igloo env list shows them");
  }
  const std::string& name = args.words[1];
  IGLOO_ASSIGN(const Config config, ReadConfig(args, ProjectUse::kNames, console));
  const auto own = config.environments.find(name);
  if (own != config.environments.end() && !own->second.file.empty()) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("environment '{}' is configured at {}", name,
                            config::Place(own->second.file, own->second.where)),
                "remove it there, then: igloo env gc");
  }
  IGLOO_ASSIGN(const nix::Settings settings, service::NixSettings(config));
  const nix::Place place(settings, name);
  const bool added = environment::IsName(name) && place.ReadAdded();
  IGLOO_ASSIGN(const bool image, added ? Result<bool>(false) : service::RemoveImage(name));
  if (!added && !image) {
    return Fail(Errc::kNotFound,
                "'" + Printable(name) + "' is none that 'igloo env add' added or 'pull' fetched",
                "igloo env list shows where each one comes from");
  }
  if (added) IGLOO_TRY(place.Remove());
  if (args.Has("--json")) {
    const json::array removed{json::string(ToUtf8(name))};
    console.Out(json::serialize(json::object{{"removed", removed}}) + "\n");
  } else {
    console.Out("removed: " + Printable(name) + "\n");
    // An image is gone at once.
    if (added) console.Note(kFreeHint);
  }
  return 0;
}

Result<int> EnvGc(const ParsedArgs& args, Console& console) {
  if (args.words.size() > 1) {
    return Fail(Errc::kInvalidArgument, "'igloo env gc' takes no names",
                "for one of them: igloo env remove " + ShellQuote(args.words[1]));
  }
  IGLOO_ASSIGN(const Config config, ReadConfig(args, ProjectUse::kNames, console));
  IGLOO_ASSIGN(const nix::Settings settings, service::NixSettings(config));
  Collected collected = Collect(config, settings);
  IGLOO_ASSIGN(const auto images, service::CollectImages(config));
  for (const std::string& digest : images) {
    collected.removed.push_back("the image sha256:" + digest);
  }
  std::string freed;
  if (args.Has("--collect")) {
    IGLOO_ASSIGN(freed, RunCollector(settings, console));
  }
  if (args.Has("--json")) {
    json::array removed, kept;
    for (const std::string& key : collected.removed) removed.push_back(json::string(ToUtf8(key)));
    for (const auto& [key, error] : collected.kept) {
      kept.push_back(json::object{{"name", ToUtf8(key)}, {"what", ToUtf8(error.what)}});
    }
    console.Out(json::serialize(json::object{{"removed", std::move(removed)},
                                             {"kept", std::move(kept)},
                                             {"collected", ToUtf8(freed)}}) +
                "\n");
    return 0;
  }
  for (const std::string& key : collected.removed) console.Out("removed: " + Printable(key) + "\n");
  for (const auto& [key, error] : collected.kept) {
    console.Out("kept: " + Printable(key) + ": " + Printable(error.what) + "\n");
  }
  if (collected.removed.empty() && collected.kept.empty()) console.Out("nothing to remove\n");
  if (!freed.empty()) console.Out(Printable(freed) + "\n");
  if (!args.Has("--collect") && !collected.removed.empty()) console.Note(kFreeHint);
  return 0;
}

}  // namespace igloo::cli
