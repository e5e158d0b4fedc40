// Attacks on what others do: which files they open, and which they have locked.
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "attack.h"

namespace igloo::attack {
namespace {

/// Tells the test that everything is set up, and waits for it to do its part.
void LetOthersAct() {
  if (write(1, "ready\n", 6) != 6) Broken("nobody listens");
  char byte = 0;
  if (read(0, &byte, 1) != 1) Broken("nobody answers");
}

/// PATH: sees that somebody else opens it, or a file in it.
int Watch(const Words& words) {
  const int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) Broken("inotify_init1");
  if (inotify_add_watch(fd, words[0], IN_ALL_EVENTS) < 0) Broken("inotify_add_watch");
  LetOthersAct();
  // Events are queued before the other's open() returns.
  alignas(inotify_event) char events[4096];
  return WonIf(read(fd, events, sizeof events) > 0, "saw that a file was used");
}

int OpenToLock(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) Broken("open");
  return fd;
}

/// PATH: meets a lock (flock) that somebody else has.
int MeetLock(const Words& words) {
  const int fd = OpenToLock(words[0]);
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return Held("the lock was free");
  return WonIf(errno == EWOULDBLOCK, "flock");
}

/// PATH: likewise, of fcntl().
int MeetRecordLock(const Words& words) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(OpenToLock(words[0]), F_GETLK, &lock) != 0) Broken("F_GETLK");
  return WonIf(lock.l_type != F_UNLCK, "F_GETLK");
}

/// PATH: holds a lock of each kind while the test looks for them.
int HoldLock(const Words& words) {
  const int fd = OpenToLock(words[0]);
  struct flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fcntl(fd, F_SETLK, &lock) != 0) Broken("lock");
  LetOthersAct();
  return kHeld;
}

constexpr Attack kTable[] = {
    {"watch", "activity", Watch},
    {"meet-lock", "activity", MeetLock},
    {"meet-record-lock", "activity", MeetRecordLock},
    {"hold-lock", "activity", HoldLock},
};

}  // namespace

extern const Family kActivity = {kTable, sizeof kTable / sizeof kTable[0]};

}  // namespace igloo::attack
