#include "backend/microvm/machine_sandbox.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/file.h"

namespace igloo::backend::microvm {
namespace {

/// What a relay that was killed leaves comes this much later than the end of its channels.
constexpr int kLastWordsMs = 500;

bool MustWait(ssize_t count) {
  return count < 0 && (errno == EAGAIN || errno == EINTR || errno == EWOULDBLOCK);
}

Result<void> WatchFor(int epoll, int fd, std::uint32_t what, int operation = EPOLL_CTL_ADD) {
  epoll_event event{.events = what, .data = {.fd = fd}};
  if (::epoll_ctl(epoll, operation, fd, &event) == 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot watch a virtual machine");
}

}  // namespace

Result<void> MachineSandbox::Start(Backend& around, Channels channels) {
  IGLOO_ASSIGN(FdPair control, MakeSocketPair(SOCK_STREAM));
  IGLOO_ASSIGN(FdPair launch, MakeSocketPair(SOCK_STREAM));
  news_.Reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!news_) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot watch a virtual machine");
  }
  if (channels.cpu_group >= 0) {
    cpu_group_ = Duplicate(channels.cpu_group);
    if (!cpu_group_) return Fail(Errc::kExhausted, "no descriptor is left", kRaiseOpenFiles);
  }
  // The program's own three are the relay's; behind them what machine/launch.h says.
  Channels outer{.control = std::move(control.second),
                 .standard_input = std::move(channels.standard_input),
                 .standard_output = std::move(channels.standard_output),
                 .standard_error = std::move(channels.standard_error)};
  outer.extra.push_back(std::move(launch.second));
  outer.extra.push_back(std::move(channels.control));
  for (UniqueFd& each : channels.extra) outer.extra.push_back(std::move(each));
  IGLOO_ASSIGN(jail_, around.Start(outside_, std::move(outer)));
  launch_ = std::move(launch.first);
  control_ = std::move(control.first);
  if (jail_->setup_fd() >= 0) {
    IGLOO_TRY(WatchFor(news_.get(), jail_->setup_fd(), EPOLLIN));
  } else {
    IGLOO_TRY(TellInit());
  }
  IGLOO_TRY(WatchFor(news_.get(), control_.get(), EPOLLIN));
  return WatchFor(news_.get(), launch_.get(), EPOLLIN | EPOLLOUT);
}

/// The jail's igloo-init starts the relay once it is limited like the sandbox that it holds.
Result<void> MachineSandbox::TellInit() {
  told_ = true;
  if (cpu_group_) IGLOO_TRY(jail_->EnterCpuGroup(cpu_group_.get()));
  cpu_group_.Reset();
  IGLOO_ASSIGN(const std::string start, wire::EncodeStart(StartMessage(outside_.payload, nonce_)));
  // A few thousand bytes into a socket that is empty.
  const ssize_t sent = ::send(control_.get(), start.data(), start.size(), MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(start.size())) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot speak to the jail of a virtual machine");
}

Result<void> MachineSandbox::ReadSetup() {
  IGLOO_TRY(ReadJail());
  IGLOO_TRY(SendOrders());
  IGLOO_TRY(ReadEvents());
  if (!over_) IGLOO_TRY(ReadReport());
  return {};
}

Result<void> MachineSandbox::ReadJail() {
  if (told_) return {};
  if (auto read = jail_->ReadSetup(); !read) {
    return Wrap("cannot make the jail of a virtual machine", std::move(read).error());
  }
  // Its end has taken the descriptor out of the epoll.
  return jail_->setup_fd() < 0 ? TellInit() : Result<void>();
}

Result<void> MachineSandbox::SendOrders() {
  while (sent_ < orders_.size()) {
    const ssize_t count = ::send(launch_.get(), orders_.data() + sent_, orders_.size() - sent_,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count <= 0) return {};  // later, or never: then its end says so
    sent_ += static_cast<std::size_t>(count);
  }
  if (orders_.empty()) return {};
  orders_ = {};
  sent_ = 0;
  return WatchFor(news_.get(), launch_.get(), EPOLLIN, EPOLL_CTL_MOD);
}

Result<void> MachineSandbox::ReadEvents() {
  std::array<char, 8192> buffer;
  for (;;) {
    const ssize_t count = ::recv(launch_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (MustWait(count)) return {};
    if (count <= 0) {
      over_ = true;
      return ended_ ? Result<void>() : std::unexpected(WhyGone());
    }
    events_.Append({buffer.data(), static_cast<std::size_t>(count)});
    for (machine::Event event{}; events_.Next(event);) IGLOO_TRY(Take(event));
    if (over_) return {};
  }
}

Result<void> MachineSandbox::Take(const machine::Event& event) {
  using machine::EventKind;
  switch (event.kind) {
    case EventKind::kUp:
    case EventKind::kAccelerated:
      return {};
    case EventKind::kEmulated:
      if (note_) {
        note_("virtual machines are emulated here, which is slow: " + TextOf(event));
      }
      return {};
    case EventKind::kReply:
      if (event.reply.kind != ops::ReplyKind::kFailed) return {};
      trouble_ = explain_(event.reply, inside_);
      trouble_->what = "in the virtual machine: " + trouble_->what;
      return std::unexpected(*trouble_);
    case EventKind::kLaunched:
      over_ = true;
      return {};
    case EventKind::kFailed:
    case EventKind::kLost:
    case EventKind::kNotStarted:
      trouble_ = ExplainEvent(event);
      return std::unexpected(*trouble_);
  }
  return Fail(Errc::kProtocol, "the virtual machine said something that makes no sense");
}

/// The relay ends only when everything has arrived, or after a word of why.
Result<void> MachineSandbox::ReadReport() {
  std::array<char, 4096> buffer;
  const ssize_t count = ::recv(control_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (MustWait(count)) return {};
  if (count <= 0) {
    ended_ = true;
    return std::unexpected(jail_->WhyGone());
  }
  frames_.Append({buffer.data(), static_cast<std::size_t>(count)});
  IGLOO_ASSIGN(const std::string payload, frames_.Next());
  if (payload.empty()) return {};
  IGLOO_ASSIGN(const wire::Report report, wire::DecodeReport(payload));
  if (const auto* refused = std::get_if<wire::Refused>(&report)) {
    return std::unexpected(ExplainRefusal(*refused, outside_.payload));
  }
  ended_ = true;
  return Fail(Errc::kFailedPrecondition, "the relay of a virtual machine ended",
              "something on this machine killed it (out of memory?); see dmesg");
}

Error MachineSandbox::WhyGone() {
  if (trouble_) return *trouble_;
  // The relay's last words came before the end of what it carries.
  std::array<char, 8192> buffer;
  for (;;) {
    const ssize_t count = ::recv(launch_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count <= 0) break;
    events_.Append({buffer.data(), static_cast<std::size_t>(count)});
    for (machine::Event event{}; events_.Next(event);) {
      if (auto taken = Take(event); !taken) return std::move(taken).error();
    }
  }
  pollfd ready{control_.get(), POLLIN, 0};
  if (::poll(&ready, 1, kLastWordsMs) == 1) {
    if (auto read = ReadReport(); !read) return std::move(read).error();
  }
  return {Errc::kFailedPrecondition, "the sandbox in the virtual machine ended without a report",
          "out of memory? 'memory_mb' gives it more", 0};
}

}  // namespace igloo::backend::microvm
