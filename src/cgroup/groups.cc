#include "cgroup/groups.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/file.h"
#include "cgroup/freezer.h"

namespace igloo::cgroup {
namespace {

/// More than anybody runs at once; the search ends somewhere.
constexpr unsigned kMaxLeaves = 1024;
constexpr std::size_t kMostText = 4U << 20;

/// Small files of the kernel; empty when one cannot be read.
std::string ReadAt(int directory, const char* name) {
  const UniqueFd fd(::openat(directory, name, O_RDONLY | O_CLOEXEC));
  char text[1024];
  const ssize_t count = fd ? ::read(fd.get(), text, sizeof text) : -1;
  return count > 0 ? std::string(text, static_cast<std::size_t>(count)) : std::string();
}

/// One that stays open, from its beginning.
std::string ReadAgain(int fd) {
  char text[1024];
  const ssize_t count = ::pread(fd, text, sizeof text, 0);
  return count > 0 ? std::string(text, static_cast<std::size_t>(count)) : std::string();
}

bool WriteAt(int directory, const char* name, std::string_view text) {
  const UniqueFd fd(::openat(directory, name, O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// The number behind "label " in a file of such lines.
std::uint64_t CountOf(std::string_view text, std::string_view label) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(label) && line.size() > label.size() && line[label.size()] == ' ') {
      std::uint64_t value = 0;
      std::from_chars(line.data() + label.size() + 1, line.data() + line.size(), value);
      return value;
    }
    at = end + 1;
  }
  return 0;
}

std::string Number(std::uint64_t value) { return std::to_string(value); }

/// A directory of ours, made when it is missing. SECURITY: locked by whoever uses it, so nobody
/// else may open it: the directory above is closed to others (see find.cc), and so is this one.
UniqueFd OpenLeaf(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  UniqueFd fd(::open(path.c_str(), kFlags));
  if (!fd && errno == ENOENT && (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)) {
    fd.Reset(::open(path.c_str(), kFlags));
  }
  return fd;
}

}  // namespace

Result<Leaf> Leaf::Make(const Found& found, unsigned number) {
  Leaf leaf;
  leaf.kind_ = found.kind;
  leaf.place_ = found.place + "/" + std::to_string(number);
  leaf.cpus_ = found.cpus;
  if (!found.cpu_place.empty()) leaf.cpu_place_ = found.cpu_place + "/" + std::to_string(number);
  const auto fail = [&](const std::string& what) -> Result<Leaf> {
    const int saved_errno = errno;
    return FailSys(saved_errno, what + " '" + leaf.place_ + "'",
                   "igloo limits a sandbox's memory there; 'igloo doctor' says what it found");
  };
  leaf.directory_ = OpenLeaf(leaf.place_);
  if (!leaf.directory_) return fail("cannot open the cgroup");
  if (::flock(leaf.directory_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return fail("cannot lock the cgroup");
    leaf.directory_.Reset();
  } else if (!leaf.IsEmpty()) {
    // igloo's lock goes with igloo, a moment before the last of its sandbox.
    leaf.directory_.Reset();
  } else if (found.kind == Kind::kV2) {
    // Its igloo was killed while they stood.
    if (ReadAt(leaf.directory_.get(), "cgroup.freeze") == "1\n") {
      WriteAt(leaf.directory_.get(), "cgroup.freeze", "0");
    }
  } else if (found.kind == Kind::kV1) {
    leaf.tasks_.Reset(::openat(leaf.directory_.get(), "tasks", O_WRONLY | O_CLOEXEC));
    if (!leaf.tasks_) return fail("cannot open the entrance of the cgroup");
    leaf.oom_control_.Reset(
        ::openat(leaf.directory_.get(), "memory.oom_control", O_RDONLY | O_CLOEXEC));
    if (!leaf.oom_control_) return fail("cannot watch the memory of the cgroup");
  }
  return leaf;
}

Result<void> Leaf::LimitMemory(std::uint64_t bytes, OutOfMemory out_of_memory) {
  const int at = directory_.get();
  if (kind_ == Kind::kV2) {
    WriteAt(at, "memory.oom.group", out_of_memory == OutOfMemory::kEndsAll ? "1" : "0");
  }
  const char* const file = kind_ == Kind::kV2 ? "memory.max" : "memory.limit_in_bytes";
  // A leaf that was used before usually has the limit already, and asking is cheaper.
  if (bytes != 0 && ReadAt(at, file) == Number(bytes) + "\n") return {};
  bool written = false;
  if (kind_ == Kind::kV2) {
    WriteAt(at, "memory.swap.max", "0");  // not every kernel swaps
    written = WriteAt(at, file, bytes == 0 ? "max" : Number(bytes));
  } else {
    const std::string value = bytes == 0 ? "-1" : Number(bytes);
    // Memory with swap may never be less than memory alone, so it is first opened, then closed.
    const bool with_swap = WriteAt(at, "memory.memsw.limit_in_bytes", "-1");
    written = WriteAt(at, file, value);
    if (with_swap) written = written && WriteAt(at, "memory.memsw.limit_in_bytes", value);
  }
  if (written) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot limit memory in '" + place_ + "'",
                 "ask for more memory; the limit is below what the kernel can count with");
}

Result<void> Leaf::LimitProcesses(std::uint64_t processes) {
  // Version 1 has them in another tree; the kernel's limit for each user does the same there.
  if (kind_ == Kind::kV1) return {};
  // igloo-init is one of them, and a helper that it has not reaped yet; both are not the payload's.
  const std::string most = processes == 0 ? "max" : Number(processes + 2);
  const int at = directory_.get();
  if (ReadAt(at, "pids.max") == most + "\n" || WriteAt(at, "pids.max", most)) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot limit processes in '" + place_ + "'");
}

/// SECURITY: the leaf's lock is on its directory in the tree of memory; whoever has that has this
/// one, which has the same number, too.
Result<void> Leaf::OpenCpus() {
  if (cpu_tasks_) return {};
  cpus_directory_ = OpenLeaf(cpu_place_);
  if (cpus_directory_) {
    cpu_tasks_.Reset(::openat(cpus_directory_.get(), "cgroup.procs", O_WRONLY | O_CLOEXEC));
  }
  if (cpu_tasks_) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot open the cgroup '" + cpu_place_ + "'",
                 "igloo limits a sandbox's processors there; leave 'cpus' out to do without");
}

Result<void> Leaf::LimitCpus(std::uint64_t millicpus) {
  // Whoever asked for it is told that nobody keeps it: see WhyNoCpus.
  if (!cpus_) return {};
  constexpr std::uint64_t kPeriod = 100'000;  // microseconds, as usual
  const std::string quota = Number(millicpus * kPeriod / 1000);
  bool written = false;
  if (kind_ == Kind::kV2) {
    const std::string line = (millicpus == 0 ? "max" : quota) + " " + Number(kPeriod);
    const int at = directory_.get();
    written = ReadAt(at, "cpu.max") == line + "\n" || WriteAt(at, "cpu.max", line);
    if (!written && millicpus != 0) {
      // Nobody has asked for it here before.
      WriteAt(at, "../../cgroup.subtree_control", "+cpu");
      WriteAt(at, "../cgroup.subtree_control", "+cpu");
      written = WriteAt(at, "cpu.max", line);
    }
    written = written || millicpus == 0;
  } else {
    if (millicpus == 0 && !cpus_directory_) return {};
    IGLOO_TRY(OpenCpus());
    const int at = cpus_directory_.get();
    WriteAt(at, "cpu.cfs_period_us", Number(kPeriod));
    written = WriteAt(at, "cpu.cfs_quota_us", millicpus == 0 ? "-1" : quota);
  }
  if (written) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot limit processors in '" + place_ + "'",
                 "ask for more of them; a cgroup above may have less than that");
}

Result<void> Leaf::Limit(const Limits& limits) {
  if (limits_ != limits) {
    limits_.reset();
    IGLOO_TRY(LimitMemory(limits.memory_bytes, limits.out_of_memory));
    IGLOO_TRY(LimitProcesses(limits.processes));
    IGLOO_TRY(LimitCpus(limits.millicpus));
    limits_ = limits;
  }
  before_ = ReadCounts();
  return {};
}

Result<void> Leaf::LimitCpusOfRunning(std::uint64_t millicpus) {
  if (!cpus_) return {};
  IGLOO_TRY(LimitCpus(millicpus));
  return BringAll(*this, cpus_directory_.get());
}

std::string Leaf::Processes() const {
  const UniqueFd fd(::openat(directory_.get(), "cgroup.procs", O_RDONLY | O_CLOEXEC));
  return fd ? ReadAll(fd.get(), kMostText).value_or("") : std::string();
}

bool Leaf::IsFullOfProcesses() const {
  const std::uint64_t most = limits_ ? limits_->processes : 0;
  if (kind_ != Kind::kV1 || most == 0) return false;
  const UniqueFd fd(::openat(directory_.get(), "tasks", O_RDONLY | O_CLOEXEC));
  const std::string tasks = fd ? ReadAll(fd.get(), kMostText).value_or("") : std::string();
  // igloo-init is one of them, and it counts like the others.
  return static_cast<std::uint64_t>(std::ranges::count(tasks, '\n')) >= most;
}

bool Leaf::IsEmpty() const { return ReadAt(directory_.get(), "cgroup.procs").empty(); }

Leaf::Counts Leaf::ReadCounts() const {
  const int at = directory_.get();
  if (kind_ == Kind::kV1) return {CountOf(ReadAgain(oom_control_.get()), "oom_kill"), 0};
  return {CountOf(ReadAt(at, "memory.events"), "oom_kill"),
          CountOf(ReadAt(at, "pids.events"), "max")};
}

Hits Leaf::ReadHits() const {
  const Counts now = ReadCounts();
  return {now.memory > before_.memory, now.processes > before_.processes};
}

Lease::~Lease() { GiveBack(); }

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    GiveBack();
    owner_ = other.owner_;
    leaf_ = std::move(other.leaf_);
  }
  return *this;
}

void Lease::GiveBack() {
  if (leaf_) owner_->idle_.push_back(std::move(*leaf_));
}

Result<Lease> Groups::Take(const Limits& limits) {
  for (std::size_t i = idle_.size(); i-- > 0;) {
    if (!idle_[i].IsEmpty()) continue;
    Leaf leaf = std::move(idle_[i]);
    idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
    // One that somebody removed or filled is not worth an error: there are others.
    if (leaf.Limit(limits)) return Lease(this, std::move(leaf));
  }
  std::optional<Error> last;
  // Two programs that start at the same time begin at different numbers.
  const auto first = static_cast<unsigned>(::getpid()) % 16;
  for (unsigned i = 0; i < kMaxLeaves; ++i) {
    IGLOO_ASSIGN(Leaf leaf, Leaf::Make(found_, (first + i) % kMaxLeaves));
    if (!leaf.locked()) continue;
    auto limited = leaf.Limit(limits);
    if (limited) return Lease(this, std::move(leaf));
    last = std::move(limited).error();
  }
  if (last) return std::unexpected(*std::move(last));
  return Fail(Errc::kExhausted, "1024 sandboxes run on this machine already",
              "wait for one of them to end");
}

}  // namespace igloo::cgroup
