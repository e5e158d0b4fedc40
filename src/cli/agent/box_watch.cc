#include "cli/agent/box_watch.h"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <utility>

#include "base/error_text.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "sandbox/path.h"
#include "service/places.h"

namespace igloo::cli {
namespace {

namespace fs = std::filesystem;

/// A box that is refused something all the time costs one file in this time.
constexpr auto kWritePause = std::chrono::seconds(1);

bool HostHas(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/// Where the profile of --learn goes.
Result<std::string> LearnedPlace(const std::string& named, const std::string& box,
                                 const std::string& project) {
  if (named.empty()) {
    IGLOO_ASSIGN(const std::string state, service::StatePlace());
    IGLOO_TRY(OpenPrivateDirectory(state + "/learned", OwnLevels::kTwo));
    return state + "/learned/" + box + ".toml";
  }
  std::error_code error;
  const fs::path directory = fs::canonical(fs::absolute(named, error).parent_path(), error);
  if (error || !fs::is_directory(directory, error)) {
    return Fail(Errc::kNotFound, "--learn: there is no directory for '" + Printable(named) + "'",
                "name a file in a directory that exists, or leave it out: --learn");
  }
  if (sandbox::IsWithin(directory.string(), project)) {
    return Fail(Errc::kInvalidArgument,
                "--learn: '" + Printable(named) + "' lies in the project, which the box can change",
                "name a file elsewhere, or leave it out: --learn");
  }
  return (directory / fs::path(named).filename()).string();
}

}  // namespace

Result<std::unique_ptr<BoxWatch>> BoxWatch::Make(const PreparedBox& prepared,
                                                 const std::string& name,
                                                 const agent::BoxInfo& info,
                                                 const std::optional<std::string>& learn,
                                                 Log::Line say) {
  std::string place;
  if (learn) {
    IGLOO_ASSIGN(place, LearnedPlace(*learn, name, info.project));
    say("--learn: igloo looks at every file that is opened, so the box is slower");
  }
  return std::unique_ptr<BoxWatch>(new BoxWatch(
      prepared,
      {.box = name, .agent = info.agent, .project = info.project, .started = info.started},
      std::move(place), std::move(say)));
}

BoxWatch::BoxWatch(const PreparedBox& prepared, agent::BoxRefusals about, std::string learned,
                   Log::Line say)
    : places_(prepared.box, prepared.plan, HostHas),
      refusals_(std::move(about)),
      learned_place_(std::move(learned)),
      agent_(prepared.box.profile != nullptr ? prepared.box.profile->name : ""),
      learned_(prepared.box, places_),
      say_(std::move(say)) {
  refusals_.files = !learned_place_.empty();
  const auto state = service::StatePlace();
  auto store = state ? agent::RefusalStore::Open(*state + "/refusals")
                     : Result<agent::RefusalStore>(std::unexpected(state.error()));
  if (store) {
    store_ = *std::move(store);
  } else {
    say_("'igloo agent why' will not know of this box: " + InOneLine(store.error()));
  }
}

void BoxWatch::Attend(session::RunIo& io) {
  io.watched = refusals_.files ? wire::Watched::kFiles : wire::Watched::kCalls;
  io.seen = [this](const wire::Seen& seen) { Take(seen); };
  if (!io.network) return;
  io.network->proxy.record = [this](const network::Record& record) { Take(record); };
}

std::function<void(boost::asio::io_context&)> BoxWatch::Beside() {
  const auto end = [this](void*) { timer_.reset(); };
  return [this, ends = std::shared_ptr<void>(nullptr, end)](boost::asio::io_context& loop) {
    timer_ = std::make_unique<boost::asio::steady_timer>(loop);
    Write();
  };
}

void BoxWatch::Take(agent::Refusal refusal) {
  if (refusal.first == 0) refusal.first = refusal.last = std::time(nullptr);
  refusals_.list.Add(std::move(refusal));
  Changed();
}

void BoxWatch::Take(const network::Record& record) {
  if (refusals_.files) learned_.Take(record);
  if (auto refusal = agent::ExplainNetwork(record)) Take(*std::move(refusal));
}

void BoxWatch::Take(const wire::Seen& seen) {
  if (seen.kind == wire::SeenKind::kBlind) {
    refusals_.calls = false;
    return Changed();
  }
  if (seen.kind == wire::SeenKind::kCall) {
    agent::Refusal refusal = agent::ExplainCall(seen.number, seen.program, seen.times);
    refusal.first = refusal.last = std::time(nullptr);
    refusals_.list.AddTotal(std::move(refusal));
    return Changed();
  }
  // SECURITY: nobody asked for more, whatever igloo-init says.
  if (!refusals_.files) return;
  const agent::FileUse use{.path = seen.path,
                           .program = seen.program,
                           .written = seen.kind == wire::SeenKind::kWritten,
                           .error = static_cast<int>(seen.number)};
  learned_.Take(use);
  if (auto refusal = places_.Explain(use)) Take(*std::move(refusal));
}

void BoxWatch::Changed() {
  if (waits_ || !timer_) return;
  waits_ = true;
  timer_->expires_after(kWritePause);
  timer_->async_wait([this](boost::system::error_code error) {
    if (error) return;
    waits_ = false;
    Write();
  });
}

void BoxWatch::Write() {
  if (!store_) return;
  const auto written = store_->Write(refusals_);
  if (written) return;
  say_("'igloo agent why' does not know all of this box: " + InOneLine(written.error()));
  store_.reset();
}

void BoxWatch::Finish() {
  refusals_.ended = std::time(nullptr);
  Write();
  const auto others = std::ranges::count_if(refusals_.list.rows(), [](const auto& each) {
    return each.kind != agent::RefusalKind::kNetwork;
  });
  if (others > 0 && store_) {
    say_("the box was refused other things, too: igloo agent why " + refusals_.box);
  }
  if (learned_place_.empty()) return;
  const auto kept = ReplaceFile(learned_place_, learned_.Toml(agent_, refusals_));
  say_(kept ? "what the box used is in '" + Printable(learned_place_) +
                  "': look at it before you use any of it"
            : "what the box used is not written down: " + InOneLine(kept.error()));
}

}  // namespace igloo::cli
