#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::cgroup {

/// How a whole sandbox's memory and processes are counted, and its processors shared out.
enum class Kind {
  kNone,  ///< by nobody: each process has limits, igloo-init looks after the sum
  kV1,    ///< memory only; a process enters by writing to `tasks`
  kV2,    ///< memory and processes; a process is born into the directory
};
std::string_view Name(Kind kind);

/// What the kernel ends when memory is out. One process, the largest, where somebody looks
/// (ReadHits) and knows what to do about the rest; version 1 knows nothing else.
enum class OutOfMemory { kEndsAll, kEndsOne };

/// For everything in a sandbox together; 0: not limited.
struct Limits {
  std::uint64_t memory_bytes = 0;
  std::uint64_t processes = 0;
  std::uint64_t millicpus = 0;  ///< processors, in thousandths; where Found::cpus says so
  OutOfMemory out_of_memory = OutOfMemory::kEndsAll;
  bool operator==(const Limits&) const = default;
};

/// Which limits a sandbox ran into.
struct Hits {
  bool memory = false;
  bool processes = false;
};

/// What this machine offers.
struct Found {
  Kind kind = Kind::kNone;
  std::string place = {};      ///< the directory that the leaves are in
  std::string why = {};        ///< kNone: in words, with what would help
  bool cpus = false;           ///< processors can be limited, too
  std::string cpu_place = {};  ///< kV1: the directory of its leaves in the tree of processors
  std::string why_no_cpus = {};
};
/// Why nobody keeps a limit on processors here; empty: it is kept.
std::string WhyNoCpus(const Found& found);
/// `root` is /sys/fs/cgroup; `own` gives the text of /proc/self/cgroup, if that is needed. Makes
/// igloo's own directory where there is none yet.
Found Find(const std::string& root, const std::function<std::string()>& own);
Found Find();

/// A directory with limits; in use by one sandbox at a time, and used again by the next: the kernel
/// keeps what is left of a removed one for a long time. Held by a lock that the kernel forgets with
/// the process.
class Leaf {
 public:
  static Result<Leaf> Make(const Found& found, unsigned number);

  Kind kind() const { return kind_; }
  /// Nothing of the last sandbox is left; what it had in memory goes with it.
  bool IsEmpty() const;
  bool locked() const { return static_cast<bool>(directory_); }
  int directory() const { return directory_.get(); }
  /// Its name, the same in every tree.
  std::string number() const { return place_.substr(place_.rfind('/') + 1); }
  /// The numbers of the processes in it, a line each.
  std::string Processes() const;
  Result<void> Limit(const Limits& limits);
  /// kV1: the file that a process enters by writing 0. kV2: the directory to be born into.
  int entrance() const { return kind_ == Kind::kV2 ? directory_.get() : tasks_.get(); }
  /// kV1: the file that limits processors, to write a process's number to; -1: there is no such
  /// limit, or the entrance leads there as well.
  int cpu_entrance() const { return limits_ && limits_->millicpus != 0 ? cpu_tasks_.get() : -1; }
  /// kV1: limits the processors of what is in it by now, and of all that this starts. Bringing
  /// running processes there takes milliseconds, which a sandbox that stays need not wait for.
  Result<void> LimitCpusOfRunning(std::uint64_t millicpus);
  OutOfMemory out_of_memory() const {
    return limits_ ? limits_->out_of_memory : OutOfMemory::kEndsAll;
  }
  /// Since the last Limit() or ForgetHits().
  Hits ReadHits() const;
  /// kV1, where nobody counts that: whether there are as many processes and threads as may be.
  bool IsFullOfProcesses() const;
  /// What was hit until now counts no more.
  void ForgetHits() { before_ = ReadCounts(); }

 private:
  /// How often each limit was hit, ever.
  struct Counts {
    std::uint64_t memory = 0, processes = 0;
  };
  Counts ReadCounts() const;
  Result<void> LimitMemory(std::uint64_t bytes, OutOfMemory out_of_memory);
  Result<void> LimitProcesses(std::uint64_t processes);
  Result<void> LimitCpus(std::uint64_t millicpus);
  Result<void> OpenCpus();

  Kind kind_ = Kind::kNone;
  std::string place_ = {};      ///< for messages
  bool cpus_ = false;           ///< can be limited
  std::string cpu_place_ = {};  ///< kV1: its directory among those that limit processors
  UniqueFd directory_ = {};     ///< locked
  UniqueFd tasks_ = {};         ///< kV1
  UniqueFd cpus_directory_ = {}, cpu_tasks_ = {};  ///< kV1, once that was asked for
  UniqueFd oom_control_ = {};  ///< kV1; open, because it is read after every call of a session
  std::optional<Limits> limits_ = {};
  Counts before_ = {};
};

class Groups;

/// A leaf for the time of one sandbox.
class Lease {
 public:
  Lease(Groups* owner, Leaf leaf) : owner_(owner), leaf_(std::make_unique<Leaf>(std::move(leaf))) {}
  Lease(Lease&&) = default;
  Lease& operator=(Lease&& other) noexcept;
  ~Lease();

  const Leaf& leaf() const { return *leaf_; }
  Leaf& leaf() { return *leaf_; }

 private:
  void GiveBack();
  Groups* owner_;
  std::unique_ptr<Leaf> leaf_;
};

/// Hands out leaves, and keeps those that come back for the next sandbox. Outlives its leases.
class Groups {
 public:
  explicit Groups(Found found) : found_(std::move(found)) {}

  Kind kind() const { return found_.kind; }
  const Found& found() const { return found_; }
  /// Never called for kNone.
  Result<Lease> Take(const Limits& limits);

 private:
  friend class Lease;
  Found found_;
  std::vector<Leaf> idle_ = {};
};

}  // namespace igloo::cgroup
