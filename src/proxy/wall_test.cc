#include "proxy/wall.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

namespace igloo::proxy {
namespace {

enum class Wall { kNone, kRaised };

/// errno of something that a process of its own tries, 0 when it can.
int Try(Wall wall, const std::function<bool()>& attempt) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (wall == Wall::kRaised && !RaiseWall()) ::_exit(255);
    errno = 0;
    const bool can = attempt();
    ::_exit(can ? 0 : errno);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

sockaddr_in Loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

struct Attempt {
  const char* name;
  std::function<bool()> attempt;
};

const Attempt kForbidden[] = {
    {"open a file", [] { return ::open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0; }},
    {"look at a file", [] { return ::access("/etc/passwd", F_OK) == 0; }},
    {"list a directory", [] { return ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0; }},
    {"start a process",
     [] {
       const long pid = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
       if (pid == 0) ::_exit(0);
       return pid > 0;
     }},
    {"become a program",
     [] {
       const char* const none[] = {nullptr};
       ::execve("/bin/true", const_cast<char**>(none), const_cast<char**>(none));
       return false;
     }},
    {"make a local socket", [] { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0; }},
    {"make a netlink socket", [] { return ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0) >= 0; }},
    {"take a port",
     [] {
       const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
       sockaddr_in address = Loopback();
       return ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
     }},
    {"listen", [] { return ::listen(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), 1) == 0; }},
    {"make code",
     [] {
       return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
              MAP_FAILED;
     }},
    {"make a namespace",
     [] { return ::syscall(SYS_unshare, 0x10000000 /* CLONE_NEWUSER */) == 0; }},
    {"signal another process", [] { return ::kill(::getppid(), 0) == 0; }},
};

TEST(Wall, LeavesNothingButSockets) {
  for (const Attempt& each : kForbidden) {
    const int failure = Try(Wall::kRaised, each.attempt);
    EXPECT_TRUE(failure == EPERM || failure == EACCES) << each.name << ": " << failure;
  }
}

TEST(Wall, IsWhatForbidsIt) {
  for (const Attempt& each : kForbidden) {
    if (each.name == std::string_view("become a program")) {
      continue;  // its success is an exit code of its own
    }
    EXPECT_EQ(Try(Wall::kNone, each.attempt), 0) << each.name;
  }
}

TEST(Wall, LetsSocketsThrough) {
  EXPECT_EQ(Try(Wall::kRaised,
                [] {
                  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
                  sockaddr_in address = Loopback();
                  address.sin_port = htons(9);
                  return ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
                }),
            0);
  EXPECT_EQ(Try(Wall::kRaised,
                [] {
                  int ends[2] = {-1, -1};
                  return ::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0 &&
                         ::write(ends[1], "x", 1) == 1 &&
                         ::fcntl(ends[1], F_SETPIPE_SZ, 1 << 16) > 0;
                }),
            0);
  EXPECT_EQ(Try(Wall::kRaised, [] { return ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0; }), EPERM);
}

}  // namespace
}  // namespace igloo::proxy
