#include "cli/builder.h"

#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/flakes.h"
#include "cli/programs.h"

namespace igloo::cli {

void Builder::Consider(const config::Config& config, const ParsedArgs& args) {
  if (child_) return;
  const auto settings = NixSettings(config);
  if (!settings) return;
  std::vector<std::string> names;
  for (const Flake& flake : FlakesOf(config)) {
    if (!flake.wanted) continue;
    const nix::State state = nix::Look(*settings, *flake.wanted);
    if (state.kind == nix::State::Kind::kReady) continue;
    if (!tried_.insert(flake.wanted->key + " " + DigestOf(*flake.wanted, *settings)).second) {
      continue;
    }
    names.push_back(flake.name);
  }
  if (names.empty()) return;
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  events_.say("Nix builds in the background: " + all);
  names_ = {names.begin(), names.end()};
  if (const auto started = Start(names, args); !started) {
    names_.clear();
    events_.say("cannot build environments: " + started.error().what);
  }
}

Result<void> Builder::Start(const std::vector<std::string>& names, const ParsedArgs& args) {
  IGLOO_ASSIGN(const std::string igloo, FindIgloo());
  std::vector<std::string> argv = {igloo, "env", "build"};
  argv.insert(argv.end(), names.begin(), names.end());
  for (const char* flag : {"--config", "--project"}) {
    if (const auto value = args.Get(flag)) argv.insert(argv.end(), {flag, *value});
  }
  IGLOO_ASSIGN(child_,
               Spawn({.program = igloo, .argv = argv, .env = OwnVariables(), .own_session = true}));
  UniqueFd watched = Duplicate(child_.pidfd());
  if (!watched) return Fail(Errc::kExhausted, "too many open files", kRaiseOpenFiles);
  ended_.emplace(loop_, watched.Release());
  ended_->async_wait(boost::asio::posix::descriptor_base::wait_read,
                     [this](const boost::system::error_code& error) {
                       if (!error) Ended();
                     });
  return {};
}

void Builder::Ended() {
  ended_.reset();
  (void)child_.Wait();
  names_.clear();
  events_.done();
}

}  // namespace igloo::cli
