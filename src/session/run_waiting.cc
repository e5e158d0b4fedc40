// Runs whose program waits for the file with its code.

#include <fcntl.h>
#include <unistd.h>

#include <span>

#include "base/file.h"
#include "session/files/workspace.h"
#include "session/run_state.h"

namespace igloo::session {

namespace asio = boost::asio;

namespace {

/// For a sandbox to be built, on a machine that is busy.
constexpr auto kBuildLimit = std::chrono::seconds(30);

/// Whether igloo-init has put the code in its place.
bool Came(int directory) {
  return ::faccessat(directory, wire::kNewFile, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

}  // namespace

asio::awaitable<void> Run::State::WaitUntilBuilt() {
  const auto self = shared_from_this();
  const auto until = std::chrono::steady_clock::now() + kBuildLimit;
  while (!built && !failure && !report && std::chrono::steady_clock::now() < until) {
    changed.expires_at(until);
    boost::system::error_code ignored;
    auto token = Redirect(ignored);
    co_await changed.async_wait(token);
  }
  if (report) {
    failure = Error{Errc::kFailedPrecondition, "the interpreter ended before its code came", {}, 0};
  }
  if (built && box->sandbox().handed_out().size() != CountHandedOut(plan)) {
    FailWith({Errc::kExhausted, "a directory of the sandbox did not come out", kRaiseOpenFiles, 0});
  }
  if (!built) FailWith({Errc::kTimeout, "the sandbox was not built in time", {}, 0});
}

int Run::State::CodeDirectory() const {
  const std::span<const UniqueFd> directories = box->sandbox().handed_out();
  return directories.empty() ? -1 : directories.back().get();
}

Result<void> Run::State::PlaceCode(const Task& task) {
  const std::string& path = plan.payload.argv.back();
  const int directory = CodeDirectory();
  if (directory < 0) return Fail(Errc::kInternal, "the plan hands out no place for the code");
  IGLOO_TRY(WriteBelow(directory, {.path = wire::kNewFile, .content = task.code, .mode = 0444}));
  box->Go(task.time_ms, std::string_view(path).substr(path.rfind('/') + 1));
  return {};
}

asio::awaitable<Result<void>> Run::Prepare() {
  const std::shared_ptr<State> state = state_;
  if (auto started = state->Start(); !started) co_return started;
  state->waiting = true;
  state->Watch();
  co_await state->WaitUntilBuilt();
  if (state->failure) co_return std::unexpected(*state->failure);
  co_return Result<void>();
}

bool Run::waits() const { return state_->waiting && !state_->failure && !state_->report; }

bool Run::never_began() const {
  if (state_->waiting) return true;
  // The launcher was gone before it took the request: it tells of a sandbox first of all.
  const bool made = state_->box->started() && state_->box->sandbox().made();
  return state_->vanished && !made;
}

int Run::handed_out(std::size_t index) const {
  const std::span<const UniqueFd> directories = state_->box->sandbox().handed_out();
  return index < directories.size() ? directories[index].get() : -1;
}

asio::awaitable<Result<RunResult>> Run::Go(Task task) {
  const std::shared_ptr<State> state = state_;
  if (!waits()) {
    co_return Fail(Errc::kFailedPrecondition, "the sandbox ended before its code came",
                   "this should not happen twice; please report it");
  }
  state->io.heard = std::move(task.heard);
  state->time_ms = task.time_ms;
  if (auto placed = state->PlaceCode(task); !placed) {
    co_return std::unexpected(std::move(placed).error());
  }
  state->waiting = false;
  // SECURITY: code that may have begun is never begun again.
  const UniqueFd directory = Duplicate(state->CodeDirectory());
  auto result = co_await state->End();
  state->waiting = !Came(directory.get());
  co_return result;
}

}  // namespace igloo::session
