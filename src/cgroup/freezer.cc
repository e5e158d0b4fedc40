#include "cgroup/freezer.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/private_directory.h"

namespace igloo::cgroup {
namespace {

constexpr std::size_t kMostText = 4U << 20;
/// A process in the middle of something that cannot be interrupted stands a little later.
constexpr auto kStandLimit = std::chrono::seconds(5);
constexpr auto kLook = std::chrono::milliseconds(1);
/// Each round brings all that are there; only those that another one started since are left.
constexpr int kMostRounds = 100;

std::string TextAt(int directory, const char* name) {
  const UniqueFd fd(::openat(directory, name, O_RDONLY | O_CLOEXEC));
  return fd ? ReadAll(fd.get(), kMostText).value_or("") : std::string();
}

std::set<std::string> Lines(const std::string& text) {
  std::set<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

FreezerPlace PlaceAt(FreezerPlace::Kind kind, const std::string& tree) {
  const std::string place = tree + "/igloo";
  // SECURITY: closed to others, as the leaves that they belong to are (find.cc).
  const auto made = OpenPrivateDirectory(place);
  if (!made) return {.why = made.error().what};
  if (::access(place.c_str(), W_OK) != 0) return {.why = "'" + place + "' cannot be written"};
  return {.kind = kind, .place = place};
}

/// Lives in a copy of this process and makes nothing but system calls.
[[noreturn]] void Guard(int lifeline, int state) {
  // Neither the caller's terminal nor its end is this one's business.
  ::setsid();
  // In their order: the lower of the two stays where it is.
  ::dup2(lifeline, 0);
  ::dup2(state, 1);
  ::syscall(SYS_close_range, 2U, ~0U, 0U);
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  char ignored = 0;
  ssize_t count = 0;
  while ((count = ::read(0, &ignored, 1)) < 0 && errno == EINTR) {
  }
  // A byte says that it is not needed any more; without one its igloo was killed.
  if (count == 0) (void)!::write(1, "THAWED", 6);
  ::_exit(0);
}

}  // namespace

FreezerPlace FindFreezer(const Found& found, const std::string& root) {
  if (found.kind == Kind::kNone) return {.why = found.why};
  if (found.kind == Kind::kV2) return {.kind = FreezerPlace::Kind::kLeaf};
  FreezerPlace place{.why = "there is no freezer of version 1 at '" + root + "/freezer'"};
  const auto is_there = [&](const char* path) {
    return ::access((root + path).c_str(), F_OK) == 0;
  };
  if (is_there("/unified/cgroup.procs")) {
    place = PlaceAt(FreezerPlace::Kind::kV2, root + "/unified");
  }
  if (place.kind == FreezerPlace::Kind::kNone && is_there("/freezer/cgroup.procs")) {
    place = PlaceAt(FreezerPlace::Kind::kV1, root + "/freezer");
  }
  return place;
}

Result<void> BringAll(const Leaf& leaf, int directory) {
  for (int round = 0; round < kMostRounds; ++round) {
    const std::set<std::string> there = Lines(TextAt(directory, "cgroup.procs"));
    bool all = true;
    for (const std::string& process : Lines(leaf.Processes())) {
      if (there.contains(process)) continue;
      all = false;
      const UniqueFd procs(::openat(directory, "cgroup.procs", O_WRONLY | O_CLOEXEC));
      if (!procs || (::write(procs.get(), process.data(), process.size()) < 0 && errno != ESRCH)) {
        const int saved_errno = errno;
        return FailSys(saved_errno, "cannot bring a process into another cgroup");
      }
    }
    if (all) return {};
  }
  return Fail(Errc::kExhausted, "the sandbox starts processes faster than they can be counted",
              "try again, or end it");
}

Result<Freezer> Freezer::Make(const FreezerPlace& place, const Leaf& leaf) {
  Freezer freezer(leaf);
  freezer.kind_ = place.kind;
  if (place.kind == FreezerPlace::Kind::kNone) {
    return Fail(
        Errc::kFailedPrecondition,
        "processes can be stopped together only by a cgroup, and there is none: " + place.why,
        "'igloo doctor' says what it found");
  }
  if (place.kind == FreezerPlace::Kind::kLeaf) return freezer;
  // Under the number of the leaf, whose lock holds for this one, too.
  freezer.place_ = place.place + "/" + leaf.number();
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  if (::mkdir(freezer.place_.c_str(), 0700) == 0 || errno == EEXIST) {
    freezer.directory_.Reset(::open(freezer.place_.c_str(), kFlags));
  }
  if (freezer.directory_) return freezer;
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot make the cgroup '" + freezer.place_ + "'");
}

Freezer::Freezer(Freezer&& other) noexcept
    : leaf_(other.leaf_),
      kind_(other.kind_),
      place_(std::move(other.place_)),
      directory_(std::move(other.directory_)),
      frozen_(std::exchange(other.frozen_, false)),
      guard_(std::move(other.guard_)) {}

Freezer::~Freezer() {
  (void)Thaw();
  if (guard_) (void)!::write(guard_.get(), "x", 1);
}

Result<void> Freezer::Write(bool freeze) const {
  const bool old = kind_ == FreezerPlace::Kind::kV1;
  const char* const file = old ? "freezer.state" : "cgroup.freeze";
  const std::string_view word = old ? (freeze ? "FROZEN" : "THAWED") : (freeze ? "1" : "0");
  const UniqueFd fd(
      ::openat(directory_ ? directory_.get() : leaf_->directory(), file, O_WRONLY | O_CLOEXEC));
  if (fd && ::write(fd.get(), word.data(), word.size()) > 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, std::string("cannot write to '") + file + "' of the cgroup");
}

bool Freezer::AllStand() const {
  const int at = directory_ ? directory_.get() : leaf_->directory();
  if (kind_ == FreezerPlace::Kind::kV1) return TextAt(at, "freezer.state") == "FROZEN\n";
  return Lines(TextAt(at, "cgroup.events")).contains("frozen 1");
}

Result<void> Freezer::StartGuard() {
  IGLOO_ASSIGN(FdPair lifeline, MakePipe());
  const UniqueFd state(::openat(directory_.get(), "freezer.state", O_WRONLY | O_CLOEXEC));
  if (!state) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open the state of the cgroup '" + place_ + "'");
  }
  // Twice, so that nobody has to reap it.
  const pid_t child = ::fork();
  if (child == 0) {
    if (::fork() == 0) Guard(lifeline.first.get(), state.get());
    ::_exit(0);
  }
  if (child < 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot start what would let the processes go on");
  }
  ::waitpid(child, nullptr, 0);
  guard_ = std::move(lifeline.second);
  return {};
}

Result<void> Freezer::Freeze() {
  if (frozen_) return {};
  if (kind_ == FreezerPlace::Kind::kV1 && !guard_) IGLOO_TRY(StartGuard());
  // First, so that those who come stand at once.
  IGLOO_TRY(Write(true));
  frozen_ = true;
  auto brought = directory_ ? BringAll(*leaf_, directory_.get()) : Result<void>();
  const auto until = std::chrono::steady_clock::now() + kStandLimit;
  while (brought && !AllStand()) {
    if (std::chrono::steady_clock::now() > until) {
      brought = Fail(Errc::kTimeout, "a process of the sandbox cannot be stopped at this moment",
                     "try again; it may wait for a disk or for the network's");
      break;
    }
    std::this_thread::sleep_for(kLook);
  }
  if (brought) return {};
  (void)Thaw();
  return brought;
}

Result<void> Freezer::Thaw() {
  if (!frozen_) return {};
  IGLOO_TRY(Write(false));
  frozen_ = false;
  return {};
}

}  // namespace igloo::cgroup
