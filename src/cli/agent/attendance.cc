#include "cli/agent/attendance.h"

#include <chrono>

#include "base/error_text.h"
#include "session/asio.h"

namespace igloo::cli {
namespace {

/// A renewed token must be there before the other side uses the old one.
constexpr auto kSyncPause = std::chrono::seconds(1);

}  // namespace

void Attendance::Begin(boost::asio::io_context& loop, session::Run& run) {
  agent::BoxActions actions{.enter = [&run](const std::vector<std::string>& argv, UniqueFd terminal,
                                            std::function<void(Result<int>)> ended) {
    run.Join(argv, std::move(terminal), std::move(ended));
  }};
  auto control = agent::BoxControl::Open(loop, socket_, std::move(actions));
  if (control) {
    control_ = *std::move(control);
  } else if (say_) {
    say_("nobody can enter this box: " + InOneLine(control.error()));
  }
  if (state_ == nullptr) return;
  timer_.emplace(loop);
  SyncLater();
}

void Attendance::SyncLater() {
  timer_->expires_after(kSyncPause);
  timer_->async_wait([this](boost::system::error_code error) {
    if (error) return;
    state_->Sync();
    SyncLater();
  });
}

}  // namespace igloo::cli
