#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"

namespace igloo::attack {
namespace {

void WriteText(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) Broken(path);
  close(fd);
}

void BecomeRootInside(unsigned uid, unsigned gid) {
  char text[64];
  WriteText("/proc/self/setgroups", "deny");
  snprintf(text, sizeof text, "0 %u 1", uid);
  WriteText("/proc/self/uid_map", text);
  snprintf(text, sizeof text, "0 %u 1", gid);
  WriteText("/proc/self/gid_map", text);
}

void Require(bool done, const char* what) {
  if (!done) Broken(what);
}

void SetTheScene() {
  Require(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "private mounts");
  Require(mount("proc", "/proc", "proc", 0, nullptr) == 0, "own /proc");
  Require(mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777") == 0, "own /tmp");
  Require(mkdir("/tmp/sealed", 0755) == 0, "/tmp/sealed");
  Require(mount("tmpfs", "/tmp/sealed", "tmpfs", MS_RDONLY, nullptr) == 0, "sealed place");
  Require(mount("/dev/null", "/proc/keys", nullptr, MS_BIND, nullptr) == 0, "covered keys");
}

[[noreturn]] void FirstProcess(Function attack, const Words& words) {
  // Root's exec rules may have made us undumpable; without the wall PID 1 would not be.
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0);
  SetTheScene();
  const pid_t bystander = fork();
  if (bystander == 0) {
    for (;;) pause();
  }
  const pid_t attacker = fork();
  if (attacker == 0) {
    alarm(60);
    errno = 0;
    _exit(attack(words));
  }
  Require(bystander == 2 && attacker == 3, "process numbers");
  const int code = ExitOf(attacker);
  _exit(code < 0 ? kBroken : code);  // the bystander ends with its namespace
}

}  // namespace

int RunInOwnNamespaces(Function attack, const Words& words) {
  const unsigned uid = geteuid();
  const unsigned gid = getegid();
  constexpr int kAll =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  if (unshare(kAll) != 0) Broken("unshare");
  BecomeRootInside(uid, gid);
  const pid_t first = fork();
  if (first == 0) FirstProcess(attack, words);
  const int code = ExitOf(first);
  return code < 0 ? kBroken : code;
}

}  // namespace igloo::attack
