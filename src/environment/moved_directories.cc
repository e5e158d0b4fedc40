#include "environment/moved_directories.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/open_beneath.h"

namespace igloo::environment {
namespace {

/// Times of files advance with the clock's tick, which is 10 ms at most.
constexpr std::int64_t kTickNs = 20'000'000;
constexpr int kRounds = 200;
/// Names of directories that are looked at while others make them.
constexpr std::size_t kMaxLooks = 200'000;

std::int64_t Nanoseconds(std::int64_t seconds, std::int64_t nanoseconds) {
  return seconds * 1'000'000'000 + nanoseconds;
}
std::int64_t Nanoseconds(const timespec& time) { return Nanoseconds(time.tv_sec, time.tv_nsec); }

/// It is not where it was. Then its parent has changed as well, or a directory above, and whoever
/// looks at that finds what stands here now.
bool IsGone(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

std::string Join(const std::string& directory, const char* name) {
  return directory.empty() ? name : directory + "/" + name;
}

UniqueFd OpenToRead(int root, const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;
  UniqueFd own = OpenBeneath(root, path, kFlags | O_NOATIME);
  if (!own && errno == EPERM) own = OpenBeneath(root, path, kFlags);
  return own;
}

}  // namespace

timespec MovedDirectories::Now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

timespec MovedDirectories::NextTick() {
  // What was made before has a time before this, also where the kernel takes finer times than
  // ticks; what is made once a tick has passed this has a later one.
  const timespec begin = Now();
  timespec tick{};
  do {
    ::sched_yield();
    ::clock_gettime(CLOCK_REALTIME_COARSE, &tick);
  } while (Nanoseconds(tick) <= Nanoseconds(begin));
  return begin;
}

void MovedDirectories::Note(std::string_view path, const struct stat& info, bool entered) {
  // The first counts: names that came after it may not have been read.
  seen_.try_emplace(std::string(path), Seen{.device = info.st_dev,
                                            .inode = info.st_ino,
                                            .changed = info.st_ctim,
                                            .entered = entered});
  if (entered) entered_.emplace(info.st_dev, info.st_ino);
}

bool MovedDirectories::AllSeen() {
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<std::string> changed = Changed();
    if (on_compared) on_compared();
    // SECURITY: before this comparison all events were taken. So at its begin, each directory was
    // either watched, with subdirectories that somebody looked at, or as it was when it was
    // entered: else its time would be another one now.
    if (changed.empty()) return true;
    if (!events_) events_.Reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!events_) return false;
    for (const std::string& path : changed) {
      if (!Watch(path)) return false;
    }
    if (!TakeEvents()) return false;
  }
  return false;
}

std::vector<std::string> MovedDirectories::Changed() {
  std::vector<std::string> changed;
  for (const auto& [path, seen] : seen_) {
    if (!seen.entered || seen.watched) continue;
    struct stat info{};
    if (::fstatat(root_, path.c_str(), &info, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0) {
      if (!IsGone(errno)) changed.push_back(path);
      continue;
    }
    const bool same = info.st_dev == seen.device && info.st_ino == seen.inode;
    if (same && MayHaveChanged(seen, info)) changed.push_back(path);
  }
  return changed;
}

bool MovedDirectories::MayHaveChanged(const Seen& seen, const struct stat& info) const {
  const std::int64_t now = Nanoseconds(info.st_ctim);
  return now != Nanoseconds(seen.changed) || now >= Nanoseconds(begin_) - kTickNs;
}

bool MovedDirectories::Watch(std::string path) {
  std::vector<std::string> left;
  left.push_back(std::move(path));
  while (!left.empty()) {
    const std::string next = std::move(left.back());
    left.pop_back();
    if (!WatchOne(next, left)) return false;
  }
  return true;
}

bool MovedDirectories::WatchOne(const std::string& path, std::vector<std::string>& more) {
  UniqueFd own = OpenToRead(root_, path);
  if (!own) return IsGone(errno);
  const auto seen = seen_.find(path);
  struct stat info{};
  if (seen == seen_.end() || ::fstat(own.get(), &info) != 0) return false;
  if (info.st_dev != seen->second.device || info.st_ino != seen->second.inode) return true;
  // By its descriptor: a path could lead elsewhere by now.
  const std::string link = "/proc/self/fd/" + std::to_string(own.get());
  const int watch =
      ::inotify_add_watch(events_.get(), link.c_str(), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
  if (watch < 0) return false;
  // The kernel has one watch for each directory. Under an old path nobody would hear of it.
  NotWatched(watch);
  watches_[watch] = path;
  seen->second.watched = true;
  // After the watch: what comes from now on is an event.
  const std::unique_ptr<DIR, int (*)(DIR*)> names(::fdopendir(own.get()), ::closedir);
  if (!names) return false;
  (void)own.Release();
  for (errno = 0; const dirent* entry = ::readdir(names.get()); errno = 0) {
    const bool other = entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN;
    if (other || std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) {
      continue;
    }
    if (!LookAtName(::dirfd(names.get()), path, entry->d_name, more)) return false;
  }
  return errno == 0 || IsGone(errno);
}

bool MovedDirectories::LookAtName(int directory, const std::string& parent, const char* name,
                                  std::vector<std::string>& more) {
  if (++looks_ > kMaxLooks) return false;
  // SECURITY: one call, so that the time of birth is that of this inode; and by the directory,
  // which may be elsewhere by now.
  struct statx info{};
  if (::statx(directory, name, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_INO | STATX_BTIME, &info) !=
      0) {
    return IsGone(errno);
  }
  if (!S_ISDIR(info.stx_mode)) return true;
  const std::string path = Join(parent, name);
  const dev_t device = ::makedev(info.stx_dev_major, info.stx_dev_minor);
  const auto seen = seen_.find(path);
  if (seen != seen_.end() && seen->second.device == device && seen->second.inode == info.stx_ino) {
    return true;
  }
  const bool has_birth = (info.stx_mask & STATX_BTIME) != 0;
  const std::int64_t born = Nanoseconds(info.stx_btime.tv_sec, info.stx_btime.tv_nsec);
  const bool is_new = has_birth && born > Nanoseconds(begin_);
  if (!is_new && !entered_.contains({device, info.stx_ino})) return false;
  // Others may have been moved into it since somebody looked, or since it was made.
  seen_.insert_or_assign(path, Seen{.device = device, .inode = info.stx_ino, .entered = true});
  more.push_back(path);
  return true;
}

void MovedDirectories::NotWatched(int watch) {
  const auto path = watches_.find(watch);
  if (path == watches_.end()) return;
  const auto seen = seen_.find(path->second);
  if (seen != seen_.end()) seen->second.watched = false;
}

bool MovedDirectories::TakeEvents() {
  alignas(inotify_event) std::array<char, 16U << 10> buffer{};
  for (;;) {
    const ssize_t size = ::read(events_.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == EAGAIN;
    std::set<std::string> changed;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += static_cast<ssize_t>(sizeof *event + event->len);
      if ((event->mask & IN_Q_OVERFLOW) != 0) return false;
      if ((event->mask & (IN_ISDIR | IN_IGNORED)) == 0) continue;
      // The directory itself may be elsewhere by now, so the name says nothing. If it is not at
      // this path, it is found where it is: there, too, something has changed.
      NotWatched(event->wd);
      const auto path = watches_.find(event->wd);
      if (path == watches_.end()) continue;
      if ((event->mask & IN_IGNORED) != 0) {
        watches_.erase(path);
      } else {
        changed.insert(path->second);
      }
    }
    for (const std::string& path : changed) {
      if (!Watch(path)) return false;
    }
  }
}

}  // namespace igloo::environment
