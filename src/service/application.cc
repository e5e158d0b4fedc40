#include "service/application.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/error_text.h"
#include "base/text.h"
#include "service/caller.h"
#include "service/decision_log.h"
#include "service/places.h"
#include "service/programs.h"
#include "session/asio.h"

namespace igloo::service {

namespace asio = boost::asio;

namespace {

std::size_t RunsAtOnce() {
  return std::clamp<std::size_t>(2 * std::size_t{std::thread::hardware_concurrency()}, 4, 32);
}

/// So that reading a file back fits into one answer.
constexpr std::uint64_t kMostOfAFile = 4U << 20;

/// Whether somebody named it or made it. What the host has no programs for, and what nobody has
/// pulled, is no news to anybody.
bool AskedFor(const std::string& name, const config::Config& config,
              const std::vector<environment::Listing>& rows) {
  if (config.environments.contains(name)) return true;
  const auto row = std::ranges::find(rows, name, &environment::Listing::name);
  if (row == rows.end() || row->provider == "host") return false;
  const auto presets = PresetNames();
  return row->provider != "image" || std::ranges::find(presets, name) == presets.end();
}

}  // namespace

Application::Application(Options options)
    : options_(std::move(options)),
      warn_(options_.log.At(Log::Level::kWarning)),
      inform_(options_.log.At(Log::Level::kInfo)),
      detail_(options_.log.At(Log::Level::kDebug)),
      calls_(warn_),
      setup_([this] { return Load(); }),
      secret_reader_(loop_, warn_) {
  Runner::Options running{.at_once = RunsAtOnce(),
                          .left = {.file_bytes = kMostOfAFile},
                          .note = warn_,
                          .proxy = ProxyFor(options_.programs)};
  running.proxy.record = [this](const network::Record& record) {
    if (decisions_) decisions_->Add(record);
    // Who is refused something can be allowed it.
    if (options_.reachable) options_.reachable();
  };
  runner_ = std::make_unique<Runner>(loop_, options_.programs, std::move(running));
  std::vector<std::string> labels = options_.principals;
  if (labels.empty()) labels.emplace_back();
  for (std::string& label : labels) {
    principals_.push_back(
        std::make_unique<Principal>(loop_, *runner_, Owner{.principal = std::move(label)}));
    // With the first session, so that a client that only looks leaves nothing behind.
    principals_.back()->sessions().OnBegun([this] {
      if (options_.reachable) options_.reachable();
    });
  }
  builder_.emplace(loop_, Builder::Events{.done =
                                              [this] {
                                                if (options_.built) options_.built();
                                              },
                                          .say = warn_});
}

void Application::Close() {
  // Networks that end with the loop are told of, and whoever could be reached by it is being ended.
  options_.reachable = {};
  for (const auto& each : principals_) each->sessions().Close();
  runner_->Close();
}

Making Application::making() {
  return {
      .wait = [this](std::string name, std::function<void(std::string_view)> said,
                     Cancellation cancellation) -> asio::awaitable<void> {
        const auto& setup = setup_.Current();
        std::string made = setup ? config::Canonical((*setup)->config(), name) : name;
        co_await builder_->Wait(std::move(made), std::move(said), std::move(cancellation));
      },
      .secrets =
          [this](std::shared_ptr<const Setup> setup, std::string name, Cancellation cancellation) {
            return secret_reader_.Wait(std::move(setup), std::move(name), std::move(cancellation));
          },
      .setup = [this] { return setup_.CurrentOrNothing(); }};
}

void Application::BuildMissing() {
  if (const auto& setup = setup_.Current()) {
    builder_->Consider((*setup)->config(), options_.build_flags);
  }
}

void Application::Record(const Owner& owner, Trace trace) {
  if (!owner.principal.empty()) trace.client = owner.principal + "/" + trace.client;
  calls_.Add(trace);
  detail_(CallLine(trace));
}

Result<std::shared_ptr<const Setup>> Application::Load() {
  IGLOO_ASSIGN(ReadConfiguration read, options_.read());
  Apply(read.config);
  auto setup = std::make_shared<Setup>(std::move(read.config), options_.catalogue, TheCaller(),
                                       std::move(read.sandboxes));
  for (const environment::ArtifactProblem& each : setup->catalogue().problems()) {
    read.remarks.insert("'" + each.directory + "' is no environment: " + InOneLine(each.error));
  }
  Remark(std::move(read.remarks));
  TellUnusable(*setup);
  secret_reader_.Begin(setup);
  return setup;
}

void Application::Apply(const config::Config& config) {
  calls_.Set(config.audit);
  decisions_ = OpenNetworkLog(config.audit, warn_);
  for (const auto& each : principals_) {
    each->sessions().SetLimits({.most = config.session.most,
                                .idle = std::chrono::milliseconds(config.session.idle_ms),
                                .lifetime = std::chrono::milliseconds(config.session.lifetime_ms),
                                .fork = config.session.fork.value_or(principals_.size() == 1)});
  }
  builder_->Consider(config, options_.build_flags);
}

void Application::Remark(std::set<std::string> remarks) {
  for (const std::string& each : remarks) {
    if (!remarks_.contains(each)) warn_(Printable(each, Newlines::kKeep));
  }
  remarks_ = std::move(remarks);
}

void Application::TellUnusable(const Setup& setup) {
  const std::vector<environment::Listing> rows = setup.catalogue().List();
  std::map<std::string, std::string> now;
  for (const Unusable& each : setup.unusable()) {
    if (!AskedFor(each.name, setup.config(), rows)) continue;
    const bool awaited = builder_->Builds(each.name);
    // Nix's own words may be among it.
    const std::string why = awaited ? "" : Printable(InOneLine(each.why), Newlines::kKeep);
    if (!awaited && unusable_[each.name] != why) {
      warn_(fmt::format("environment '{}' cannot be used: {}", each.name, why));
    }
    now.emplace(each.name, why);
  }
  for (const auto& [name, why] : unusable_) {
    const bool ready = !now.contains(name) && setup.Find(name) != nullptr;
    if (ready) inform_(fmt::format("environment '{}' is ready", name));
  }
  unusable_ = std::move(now);
}

}  // namespace igloo::service
