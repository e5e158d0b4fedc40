#include "container/group.h"

#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "jail/sys.h"

namespace igloo::container {
namespace {

/// More than igloo lets run beside each other.
constexpr unsigned kMost = 4096;
/// How many are looked at in any case, for what killed ones left.
constexpr unsigned kSwept = 64;

int NewHierarchy() {
  const kernel::ScopedFd fs(jail::FsOpen("cgroup2"));
  const bool made = fs && jail::FsConfig(fs.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr);
  return made ? jail::FsMount(fs.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
              : -1;
}

/// Our own group in the hierarchy.
int OpenOwn(int hierarchy) {
  char text[4096];
  kernel::ReadTextAt(AT_FDCWD, "/proc/self/cgroup", text, sizeof text);
  char* line = strstr(text, "0::/");
  errno = ENOENT;
  if (line == nullptr) return -1;
  char* const path = line + strlen("0::/");
  path[strcspn(path, "\n")] = '\0';
  return openat(hierarchy, *path == '\0' ? "." : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/// What the engine makes below its own.
void RemoveBelow(int group) {
  unlinkat(group, "payload", AT_REMOVEDIR);
  unlinkat(group, "supervisor", AT_REMOVEDIR);
}

bool IsNamed(int group, int parent, const char* name) {
  struct stat held{}, named{};
  return fstat(group, &held) == 0 && fstatat(parent, name, &named, 0) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace

int Group::Lock(const char* name) const {
  const int group = openat(parent_, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // The one who had it may have removed it before the lock came to us.
  if (group >= 0 && flock(group, LOCK_EX | LOCK_NB) == 0) {
    if (IsNamed(group, parent_, name)) return group;
    errno = ENOENT;
  }
  kernel::CloseQuietly(group);
  return -1;
}

bool Group::Take(const char* name) {
  // SECURITY: closed to others, who could lock it for ever.
  if (mkdirat(parent_, name, 0700) != 0 && errno != EEXIST) return false;
  group_ = Lock(name);
  if (group_ < 0) return errno == EWOULDBLOCK || errno == ENOENT;
  strcpy(name_, name);
  RemoveBelow(group_);  // of one that was killed
  return true;
}

void Group::Sweep(const char* name) const {
  const kernel::ScopedFd left(Lock(name));
  if (!left) return;
  // The kernel removes none that has a process in it.
  RemoveBelow(left.get());
  unlinkat(parent_, name, AT_REMOVEDIR);
}

bool Group::Make() {
  hierarchy_ = NewHierarchy();
  parent_ = hierarchy_ < 0 ? -1 : OpenOwn(hierarchy_);
  if (parent_ < 0) return false;
  for (unsigned number = 0; number < kMost && (group_ < 0 || number < kSwept); ++number) {
    char name[sizeof name_];
    snprintf(name, sizeof name, "igloo-container-%u", number);
    if (group_ >= 0) {
      Sweep(name);
    } else if (!Take(name)) {
      return false;
    }
  }
  return group_ >= 0;
}

bool Group::Enter() const {
  return kernel::WriteTextAt(group_, "cgroup.procs", "0") &&
         jail::MoveMount(hierarchy_, AT_FDCWD, "/sys/fs/cgroup");
}

void Group::Remove() const {
  RemoveBelow(group_);
  unlinkat(parent_, name_, AT_REMOVEDIR);
}

}  // namespace igloo::container
