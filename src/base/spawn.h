#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo {

/// A child process: killed and reaped when the owner goes away.
class Child {
 public:
  Child() = default;
  Child(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  Child(Child&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)) {}
  Child& operator=(Child&& other) noexcept;
  ~Child() { KillAndReap(); }

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  explicit operator bool() const { return pid_ > 0; }

  /// Waits for the end; the value is a wait status (WIFEXITED and friends).
  Result<int> Wait();
  void Signal(int signal) const;
  void KillAndReap();
  /// Lets it go on without us: something else (a lifeline) ends it, init reaps it.
  void Detach() { pid_ = -1; }

 private:
  pid_t pid_ = -1;
  UniqueFd pidfd_ = {};
};

/// `from` in this process becomes `to` in the child.
struct PassedFd {
  int from = -1;
  int to = -1;
};

/// Everything a child gets. What is not listed here it does not get.
struct SpawnOptions {
  std::string program = {};  ///< a path; nothing is searched
  std::vector<std::string> argv = {};
  std::vector<std::string> env = {};
  std::vector<PassedFd> fds = {};  ///< 0-2 are /dev/null unless listed
  /// Given up to before exec, group and supplementary groups too (the caller must be root).
  std::optional<uid_t> become = {};
  /// The group then; without it, the one of the same number.
  std::optional<gid_t> become_group = {};
  /// Ignored signals are inherited otherwise. A program that resets them itself saves 64 calls.
  bool reset_signals = true;
  /// A session of its own: keys typed at the caller's terminal do not reach it.
  bool own_session = false;
  /// What it gets when this process ends, however that does. A program that started others itself
  /// may need another one, by which it ends them first.
  int death_signal = SIGKILL;
  /// The file of a cgroup that the child enters by writing 0, or -1.
  int group = -1;
  int second_group = -1;  ///< likewise, of another tree of cgroups
};

/// Starts a program without copying this process (vfork), so a large server starts children as
/// fast as a small one. Call it from a thread that outlives the child: the child dies with it.
Result<Child> Spawn(const SpawnOptions& options);

/// A program that does not belong to igloo, by the caller's own PATH: what is found is started by
/// its path, with no shell in between. Empty: there is none.
std::string FindInPath(std::string_view program);

}  // namespace igloo
