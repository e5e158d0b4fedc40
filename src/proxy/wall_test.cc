#include "proxy/wall.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>

namespace igloo::proxy {
namespace {

enum class Wall { kNone, kRaised };

/// Above every errno.
constexpr int kSignalled = 1000;

/// errno of something that a process of its own tries, 0 when it can; more when a signal ends it.
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
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
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
    {"signal another process's thread",
     [] { return ::syscall(SYS_tgkill, ::getppid(), ::getppid(), 0) == 0; }},
    {"have the kernel signal another process",
     [] {
       int ends[2] = {-1, -1};
       return ::pipe2(ends, O_CLOEXEC) == 0 && ::fcntl(ends[0], F_SETOWN, ::getppid()) == 0;
     }},
    {"choose that signal",
     [] {
       int ends[2] = {-1, -1};
       return ::pipe2(ends, O_CLOEXEC) == 0 && ::fcntl(ends[0], F_SETSIG, SIGUSR1) == 0;
     }},
    {"double a descriptor", [] { return ::fcntl(2, F_DUPFD_CLOEXEC, 0) >= 0; }},
    {"list the machine's devices",
     [] {
       ifconf none{};
       return ::ioctl(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), SIOCGIFCONF, &none) == 0;
     }},
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

/// What libraries do with descriptors that they are given, or make.
TEST(Wall, LetsDescriptorsBePrepared) {
  EXPECT_EQ(Try(Wall::kRaised,
                [] {
                  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
                  int yes = 1;
                  return ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) == 0 &&
                         ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && ::ioctl(fd, FIONBIO, &yes) == 0;
                }),
            0);
  // A list of rules that is long comes in a sealed file.
  const int file = ::memfd_create("igloo-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_EQ(Try(Wall::kRaised, [&] { return ::fcntl(file, F_GET_SEALS) == 0; }), 0);
  ::close(file);
}

TEST(Wall, LetsAFailedCheckEndTheProcess) {
  EXPECT_EQ(Try(Wall::kRaised, []() -> bool { std::abort(); }), kSignalled + SIGABRT);
}

}  // namespace
}  // namespace igloo::proxy
