#include "backend/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/descriptors.h"
#include "base/file.h"

namespace igloo::backend {
namespace {

constexpr const char* kBrokenHint = "igloo-jail and igloo must come from the same build";

/// One that was begun before this program was (src/apps/igloo.cc); nothing when there is none.
std::optional<std::pair<Child, UniqueFd>> TakeInherited() {
  const char* place = std::getenv("IGLOO_LAUNCHER");
  int fd = -1;
  pid_t pid = -1;
  if (place == nullptr || std::sscanf(place, "%d,%d", &fd, &pid) != 2) return std::nullopt;
  ::unsetenv("IGLOO_LAUNCHER");
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  siginfo_t info{};
  // Anybody can set a variable; only a living child of ours is what it says.
  const bool ours =
      pidfd && ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == 0 && ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
  if (!ours) return std::nullopt;
  return std::pair(Child(pid, std::move(pidfd)), UniqueFd(fd));
}

}  // namespace

Result<Launcher> Launcher::Start(const Programs& programs, bool ahead) {
  RaiseOpenFiles();
  if (ahead) {
    if (auto inherited = TakeInherited()) {
      return Launcher(std::move(inherited->first), std::move(inherited->second));
    }
  }
  SpawnOptions options{.program = programs.jail, .argv = {"igloo-jail"}, .reset_signals = false};
  if (ahead) options.argv.emplace_back("ahead");
  return StartProgram(std::move(options));
}

Result<Launcher> Launcher::StartProgram(SpawnOptions options) {
  IGLOO_ASSIGN(FdPair sockets, MakeSocketPair(SOCK_STREAM));
  options.fds.push_back({sockets.second.get(), 3});
  auto child = Spawn(options);
  if (!child) {
    Error error = std::move(child).error();
    error.hint = "install igloo completely ('make install'), or run it from build/*/bin";
    if (error.sys_errno == EMFILE) error.hint = "raise the limit on open files: ulimit -n 1024";
    if (error.sys_errno == EAGAIN) error.hint = "raise the limit on processes: ulimit -u 1024";
    return std::unexpected(std::move(error));
  }
  return Launcher(*std::move(child), std::move(sockets.first));
}

Launcher::~Launcher() {
  if (!child_) return;
  socket_.Reset();
  // End of file ends it at once, unless somebody stopped it.
  constexpr int kPatienceMs = 1000;
  pollfd ended{child_.pidfd(), POLLIN, 0};
  if (::poll(&ended, 1, kPatienceMs) == 1) (void)child_.Wait();
}

Result<void> Launcher::Send(ops::Request request, const Lists& lists, std::span<const int> fds) {
  request.magic = ops::kMagic;
  request.fd_count = static_cast<std::uint16_t>(fds.size());
  request.environment_bytes = static_cast<std::uint32_t>(lists.environment.size());
  request.fresh_bytes = static_cast<std::uint32_t>(lists.fresh.size());
  request.run_bytes = static_cast<std::uint32_t>(lists.run.size());
  const std::size_t body = lists.environment.size() + lists.fresh.size() + lists.run.size();
  if (body > ops::kMaxBytes) {
    return Fail(Errc::kExhausted, "the plan is larger than 80 MB",
                "code of up to 64 MB can be run; pass larger data in the project");
  }
  if (fds.size() > ops::kMaxFds) return Fail(Errc::kInternal, "too many descriptors");

  iovec pieces[4] = {{&request, sizeof request},
                     {const_cast<char*>(lists.environment.data()), lists.environment.size()},
                     {const_cast<char*>(lists.fresh.data()), lists.fresh.size()},
                     {const_cast<char*>(lists.run.data()), lists.run.size()}};
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = 4;
  DescriptorRoom<ops::kMaxFds> room;
  room.Send(message, fds);

  // The descriptors travel with the first byte; what does not fit at once follows alone.
  std::size_t left = sizeof request + body;
  while (left > 0) {
    const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (sent < 0) {
      const int saved_errno = errno;
      if (saved_errno == EINTR) continue;
      if (saved_errno == ETOOMANYREFS) {
        return FailSys(saved_errno, "cannot pass descriptors to the launcher",
                       "programs of this user, perhaps in another sandbox, keep too many "
                       "descriptors in sockets: end them, or raise the hard limit (ulimit -Hn)");
      }
      return FailSys(saved_errno, "the launcher is gone", kBrokenHint);
    }
    message.msg_control = nullptr;
    message.msg_controllen = 0;
    left -= static_cast<std::size_t>(sent);
    auto skip = static_cast<std::size_t>(sent);
    for (iovec& piece : pieces) {
      const std::size_t here = std::min(skip, piece.iov_len);
      piece.iov_base = static_cast<char*>(piece.iov_base) + here;
      piece.iov_len -= here;
      skip -= here;
    }
  }
  return {};
}

Result<std::optional<ReceivedReply>> ReceiveReply(int socket) {
  ReceivedReply received;
  iovec piece{&received.reply, sizeof received.reply};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  DescriptorRoom<1> room;
  room.Receive(message);
  const ssize_t count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (count < 0) {
    const int saved_errno = errno;
    if (saved_errno == EAGAIN || saved_errno == EINTR) return std::nullopt;
    return FailSys(saved_errno, "cannot hear the launcher", kBrokenHint);
  }
  if (count == 0) {
    received.end = true;
    return received;
  }
  std::vector<UniqueFd> descriptors = DescriptorsOf(message);
  if (descriptors.size() == 1) received.fd = std::move(descriptors.front());
  if (count != sizeof received.reply || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return Fail(Errc::kProtocol, "the launcher sent a broken answer", kBrokenHint);
  }
  return received;
}

}  // namespace igloo::backend
