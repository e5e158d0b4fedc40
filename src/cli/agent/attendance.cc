#include "cli/agent/attendance.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error_text.h"
#include "session/asio.h"

namespace igloo::cli {
namespace {

/// A renewed token must be there before the other side uses the old one.
constexpr auto kPause = std::chrono::seconds(1);

}  // namespace

std::vector<std::string> HitWords(const cgroup::Hits& hits) {
  std::vector<std::string> words;
  if (hits.memory) words.emplace_back("memory");
  if (hits.processes) words.emplace_back("processes");
  return words;
}

void Attendance::Begin(boost::asio::io_context& loop, session::Run& run) {
  run_ = &run;
  agent::BoxActions actions{
      .enter =
          [this](const std::vector<std::string>& argv, UniqueFd terminal,
                 std::function<void(Result<int>)> ended) {
            const std::string& name = place_.name();
            if (place_.info().paused) {
              return ended(Fail(Errc::kFailedPrecondition, "box '" + name + "' is paused",
                                "first: igloo agent resume " + name));
            }
            run_->Join(argv, std::move(terminal), std::move(ended));
          },
      .pause = [this] { return Pause(); },
      .resume = [this] { return Resume(); }};
  auto control = agent::BoxControl::Open(loop, options_.socket, std::move(actions));
  if (control) {
    control_ = *std::move(control);
  } else if (options_.say) {
    options_.say("nobody can enter this box: " + InOneLine(control.error()));
  }
  timer_.emplace(loop);
  LookLater();
}

Result<void> Attendance::Pause() {
  const auto paused = run_->Pause(cgroup::FindFreezer(options_.groups));
  if (!paused) {
    Error error = paused.error();
    return Wrap("box '" + place_.name() + "' cannot be paused", std::move(error));
  }
  agent::BoxInfo info = place_.info();
  info.paused = true;
  return place_.Update(std::move(info));
}

Result<void> Attendance::Resume() {
  IGLOO_TRY(run_->Resume());
  agent::BoxInfo info = place_.info();
  info.paused = false;
  return place_.Update(std::move(info));
}

void Attendance::LookLater() {
  timer_->expires_after(kPause);
  timer_->async_wait([this](boost::system::error_code error) {
    if (error) return;
    Look();
    LookLater();
  });
}

void Attendance::SayOf(const std::string& what, const Result<void>& done) const {
  if (!done && options_.say) options_.say(what + ": " + InOneLine(done.error()));
}

void Attendance::Look() {
  if (options_.state != nullptr) options_.state->Sync();
  if (const std::uint64_t cpus = std::exchange(options_.later_millicpus, 0); cpus != 0) {
    SayOf("the box's processors are not limited", run_->LimitCpusOfRunning(cpus));
  }
  // What it hit once stays written down: this is about its whole life.
  agent::BoxInfo info = place_.info();
  for (std::string& hit : HitWords(run_->hits())) {
    if (std::ranges::find(info.hits, hit) == info.hits.end()) info.hits.push_back(std::move(hit));
  }
  (void)place_.Update(std::move(info));
}

}  // namespace igloo::cli
