#include "cli/builder.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "cli/flakes.h"
#include "cli/programs.h"

namespace igloo::cli {
namespace {

constexpr std::size_t kLongestLine = 1024;

}  // namespace

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
  // SECURITY: 3 is the child's; what it starts itself does not get it.
  argv.insert(argv.end(), {"--progress-fd", "3"});
  IGLOO_ASSIGN(FdPair words, MakePipe());
  // Nobody who builds waits for somebody who listens.
  IGLOO_TRY(SetNonBlocking(words.second.get()));
  IGLOO_ASSIGN(child_, Spawn({.program = igloo,
                              .argv = argv,
                              .env = OwnVariables(),
                              .fds = {{.from = words.second.get(), .to = 3}},
                              .own_session = true}));
  words_.emplace(loop_, words.first.Release());
  line_.clear();
  Hear();
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
  words_.reset();
  (void)child_.Wait();
  const auto made = std::exchange(names_, {});
  events_.done();
  for (const auto& each : waiting_) {
    const auto waiting = each.lock();
    if (waiting && made.contains(waiting->name)) waiting->until_then.cancel();
  }
  std::erase_if(waiting_, [](const auto& each) { return each.expired(); });
}

void Builder::Hear() {
  words_->async_read_some(boost::asio::buffer(heard_),
                          [this](const boost::system::error_code& error, std::size_t count) {
                            if (error) return;
                            for (const char c : std::string_view(heard_.data(), count)) {
                              if (c == '\n') {
                                Tell(std::exchange(line_, {}));
                              } else if (line_.size() < kLongestLine) {
                                line_ += c;
                              }
                            }
                            Hear();
                          });
}

/// The environment's name, a tab, and what Nix said.
void Builder::Tell(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return;
  for (const auto& each : waiting_) {
    const auto waiting = each.lock();
    if (waiting && waiting->name == line.substr(0, tab)) waiting->said(line.substr(tab + 1));
  }
}

boost::asio::awaitable<void> Builder::Wait(std::string name,
                                           std::function<void(std::string_view)> said,
                                           Cancellation cancellation) {
  if (!Builds(name)) co_return;
  const auto waiting =
      std::make_shared<Waiting>(std::move(name), std::move(said), boost::asio::steady_timer(loop_));
  waiting_.push_back(waiting);
  waiting->until_then.expires_at(boost::asio::steady_timer::time_point::max());
  const auto hook = cancellation.OnRequest([&waiting] { waiting->until_then.cancel(); });
  if (cancellation.requested()) co_return;
  boost::system::error_code ignored;
  auto token = boost::asio::redirect_error(boost::asio::use_awaitable, ignored);
  co_await waiting->until_then.async_wait(token);
}

}  // namespace igloo::cli
