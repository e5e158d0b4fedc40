#include "prove/control.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "base/file.h"
#include "base/spawn.h"
#include "prove/marked.h"
#include "session/asio.h"

namespace igloo::prove {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// "nobody": has no rights at all, also when root starts igloo.
constexpr uid_t kNobody = 65534;
/// Attacks end themselves after a minute.
constexpr auto kPatience = 70s;
/// Without a wall, an attack that ignores the time limit goes on for longer than that.
constexpr auto kBeyondTheLimit = 500ms;
constexpr std::size_t kMostOutput = 1U << 16;

Result<UniqueFd> MemoryFile() {
  UniqueFd file(::memfd_create("igloo-prove", MFD_CLOEXEC));
  const int saved_errno = errno;
  if (!file) return FailSys(saved_errno, "cannot make a file in memory");
  return file;
}

/// By place: the attack, which may still write, has the same position in the file.
std::string TextOf(int file) {
  std::string text(kMostOutput, '\0');
  const ssize_t count = ::pread(file, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

struct Started {
  Child child = {};
  UniqueFd output = {};
  UniqueFd input = {};  ///< what it waits for; the others have none
};

/// As a careless caller starts it: with a directory open, and with the scene's habits.
Result<Started> Start(const Case& attack, const Scene& scene) {
  std::vector<std::string> words =
      attack.control_attack.empty() ? attack.attack : attack.control_attack;
  words = scene.Fill(std::move(words), Side::kHost);
  if (attack.control == Control::kOwnNamespaces) words.insert(words.begin(), "--control-userns");
  words.insert(words.begin(), "igloo-attack");
  IGLOO_ASSIGN(UniqueFd output, MemoryFile());
  IGLOO_ASSIGN(FdPair input, MakePipe());
  SpawnOptions options{
      .program = scene.attack_program(),
      .argv = std::move(words),
      .env = Scene::Variables(),
      .fds = {{input.first.get(), 0}, {output.get(), 1}, {output.get(), 2}, {scene.inherited(), 9}},
      .reset_signals = false};
  if (attack.control == Control::kHostAsUser && ::geteuid() == 0) options.become = kNobody;
  IGLOO_ASSIGN(Child child, Spawn(options));
  if (attack.sign != Sign::kWatch) input.second.Reset();
  return Started{std::move(child), std::move(output), std::move(input.second)};
}

/// Whether the child ends before that time is over.
asio::awaitable<bool> EndsWithin(asio::io_context& loop, const Child& child,
                                 std::chrono::milliseconds time, Cancellation cancellation) {
  // Shared with the timer, whose handler may be called when both came at the same time.
  const auto ended = std::make_shared<asio::posix::stream_descriptor>(
      loop, ::fcntl(child.pidfd(), F_DUPFD_CLOEXEC, 0));
  asio::steady_timer timer(loop);
  timer.expires_after(time);
  timer.async_wait([ended](const boost::system::error_code& error) {
    if (!error) ended->cancel();
  });
  const auto hook = cancellation.OnRequest([ended] { ended->cancel(); });
  boost::system::error_code error;
  co_await ended->async_wait(asio::posix::stream_descriptor::wait_read, session::Redirect(error));
  timer.cancel();
  co_return !error;
}

/// Waits until it watches, uses what it watches, and lets it look. Whether it came so far.
asio::awaitable<bool> PlayHost(asio::io_context& loop, Started& started, const Scene& scene,
                               Cancellation cancellation) {
  while (!TextOf(started.output.get()).starts_with("ready")) {
    if (cancellation.requested()) co_return false;
    if (co_await EndsWithin(loop, started.child, 5ms, cancellation)) co_return false;
  }
  scene.UseProjectFile();
  const bool told = WriteAll(started.input.get(), "x").has_value();
  started.input.Reset();
  co_return told;
}

int ExitCodeOf(Child& child) {
  const auto status = child.Wait();
  if (!status) return -1;
  return WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
}

}  // namespace

asio::awaitable<Attempt> Controls::TryOnHost(const Case& attack) {
  auto started = Start(attack, scene_);
  if (!started) co_return Attempt{Ending::kNotRun, started.error().what};
  if (attack.sign == Sign::kWatch && !co_await PlayHost(loop_, *started, scene_, cancellation_)) {
    co_return Attempt{Ending::kNotRun, TextOf(started->output.get())};
  }
  Child child = std::move(started->child);
  const bool stays = attack.sign == Sign::kTime;
  const std::chrono::milliseconds time = stays ? kBeyondTheLimit : kPatience;
  if (!co_await EndsWithin(loop_, child, time, cancellation_)) {
    child.KillAndReap();
    const bool began = stays && TextOf(started->output.get()).starts_with("staying");
    co_return began ? Attempt{Ending::kWon, "it goes on"}
                    : Attempt{Ending::kNotRun, "it did not end"};
  }
  const int code = ExitCodeOf(child);
  if (attack.sign == Sign::kLeftBehind && code == kHeld) {
    const std::string marker = scene_.Fill({"{marker}"}, Side::kHost)[0];
    const bool left = CountMarked(marker) > 0;
    EndMarked(marker);
    co_return Attempt{left ? Ending::kWon : Ending::kHeld, left ? "it is still there" : "it ended"};
  }
  co_return AttemptOf(code, TextOf(started->output.get()));
}

asio::awaitable<Result<Attempt>> Controls::Try(const Case& attack) {
  if (cancellation_.requested()) co_return Fail(Errc::kFailedPrecondition, "interrupted");
  if (attack.control == Control::kWeakened) {
    if (usual_ == nullptr) {
      co_return Attempt{Ending::kHeld, "it needs the usual wall: " + why_not_.what};
    }
    auto attempt = co_await usual_->AttackAlone(attack, true);
    if (!attempt && !cancellation_.requested()) {
      co_return Attempt{Ending::kNotRun, attempt.error().what};
    }
    co_return attempt;
  }
  if (auto renewed = scene_.Renew(); !renewed) co_return std::unexpected(renewed.error());
  Attempt attempt = co_await TryOnHost(attack);
  if (cancellation_.requested()) co_return Fail(Errc::kFailedPrecondition, "interrupted");
  co_return attempt;
}

}  // namespace igloo::prove
