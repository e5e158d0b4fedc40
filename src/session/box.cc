#include "session/box.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>

#include "base/file.h"
#include "base/pass.h"
#include "session/asio.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

namespace {

/// A program may open its standard streams again, by /dev/stdin and its like. Root's sandboxes have
/// ids of their own, to which a pipe of igloo's is somebody else's file. Nobody but the sandbox has
/// a way to it: to follow a link in /proc/PID/fd takes the right to trace that process.
/// SECURITY: its input is there for reading alone.
Result<void> LetBeOpenedAgain(const backend::Channels& channels) {
  constexpr mode_t kToRead = 0444, kToUse = 0666;
  for (const UniqueFd* end :
       {&channels.standard_input, &channels.standard_output, &channels.standard_error}) {
    struct stat info{};
    if (::fstat(end->get(), &info) != 0 || !S_ISFIFO(info.st_mode)) continue;
    if (::fchmod(end->get(), end == &channels.standard_input ? kToRead : kToUse) == 0) continue;
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot set the rights of a pipe to the program");
  }
  return {};
}

}  // namespace

Box::Box(asio::io_context& loop, const sandbox::Plan& plan, backend::Backend& backend,
         Events events)
    : plan_(plan), backend_(backend), events_(std::move(events)), control_(loop), setup_(loop) {}

Result<void> Box::Start(backend::Channels channels, const cgroup::Lease* group, wire::Life life,
                        wire::Birth birth, wire::Watched watched) {
  IGLOO_TRY(LetBeOpenedAgain(channels));
  wire::Start message = backend::StartMessage(plan_.payload, nonce_);
  message.life = life_ = life;
  message.birth = birth;
  message.watched = watched;
  if (std::holds_alternative<sandbox::HostNetwork>(plan_.network)) {
    message.sockets = wire::SocketWatch::kNone;
  }
  if (group != nullptr && backend_.CountsMemory()) {
    channels.cpu_group = group->leaf().cpu_entrance();
  } else if (group != nullptr) {
    channels.group = group->leaf().entrance();
    channels.born_into = group->leaf().kind() == cgroup::Kind::kV2;
    channels.cpu_group = group->leaf().cpu_entrance();
    if (channels.cpu_group >= 0 && !backend_.EntersCpuGroup()) {
      cpu_group_ = Duplicate(channels.cpu_group);
    }
    message.memory = wire::MemoryWatch::kCgroup;
    // What the kernel counts exactly needs no guess for each process, which would fail unnamed.
    std::erase_if(message.limits, [](const auto& limit) { return limit.resource == RLIMIT_DATA; });
  }
  IGLOO_ASSIGN(const std::string start, wire::EncodeStart(message));
  orders_.insert(0, start);
  IGLOO_ASSIGN(FdPair pair, MakeSocketPair(SOCK_STREAM));
  channels.control = std::move(pair.second);
  IGLOO_ASSIGN(sandbox_, backend_.Start(plan_, std::move(channels)));
  if (const auto* device = sandbox::DeviceOf(plan_.network)) {
    device_.emplace(control_.get_executor(), *device);
  }
  control_.assign(pair.first.Release());
  if (sandbox_->setup_fd() >= 0) {
    // Asio owns what it watches; the sandbox keeps reading through its own copy.
    setup_.assign(::fcntl(sandbox_->setup_fd(), F_DUPFD_CLOEXEC, 0));
  }
  return {};
}

void Box::Watch() {
  const auto executor = control_.get_executor();
  // With a device: once it is there. Nothing of the payload may run before its limits hold.
  if (!device_ && !cpu_group_) asio::co_spawn(executor, SendStart(), asio::detached);
  asio::co_spawn(executor, WatchSetup(), asio::detached);
  asio::co_spawn(executor, WatchControl(), asio::detached);
}

Result<void> Box::LimitCpus() {
  if (!cpu_group_) return {};
  IGLOO_TRY(sandbox_->EnterCpuGroup(cpu_group_.get()));
  cpu_group_.Reset();
  return {};
}

void Box::Send(std::string frame) {
  // INVARIANT: frames follow each other; one in the middle of the start message would break it.
  if (!start_sent_) {
    orders_ += frame;
    return;
  }
  // A few bytes; a socket that cannot take them belongs to a sandbox that is gone.
  if (control_.is_open()) {
    (void)!::send(control_.native_handle(), frame.data(), frame.size(),
                  MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

Result<void> Box::Join(std::uint32_t number, const std::vector<std::string>& argv, int terminal) {
  IGLOO_ASSIGN(const std::string frame, wire::EncodeJoin(number, argv));
  if (!start_sent_ || !control_.is_open()) {
    return igloo::Fail(Errc::kFailedPrecondition, "the sandbox does not run");
  }
  const int passed[] = {terminal};
  auto sent = SendWithFds(control_.native_handle(), frame, passed);
  // INVARIANT: frames follow each other; half a one would break those behind it. An order is small:
  // only a sandbox that reads nothing has no room for it.
  if (!sent) sandbox_->Kill();
  return sent;
}

void Box::TellBuilt() {
  if (start_sent_ && set_up_ && events_.built) events_.built();
}

void Box::Fail(Error error, bool vanished) {
  if (events_.failed) events_.failed(std::move(error), vanished);
}

asio::awaitable<void> Box::SendStart() {
  const auto self = shared_from_this();
  control_.non_blocking(true);
  for (std::size_t done = 0; done < orders_.size();) {
    const ssize_t sent = ::send(control_.native_handle(), orders_.data() + done,
                                orders_.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      done += static_cast<std::size_t>(sent);
      continue;
    }
    // WatchControl sees the end of file.
    if (sent < 0 && errno != EAGAIN && errno != EINTR) co_return;
    boost::system::error_code error;
    auto token = Redirect(error);
    co_await control_.async_wait(stream_descriptor::wait_write, token);
    if (error) co_return;
  }
  start_sent_ = true;
  TellBuilt();
}

asio::awaitable<void> Box::WatchSetup() {
  const auto self = shared_from_this();
  while (sandbox_->setup_fd() >= 0) {
    boost::system::error_code error;
    auto token = Redirect(error);
    co_await setup_.async_wait(stream_descriptor::wait_read, token);
    if (error) co_return;
    if (auto read = sandbox_->ReadSetup(); !read) {
      Fail(std::move(read).error(), false);
      co_return;
    }
  }
  setup_.close();
  // There never was a sandbox: its control channel has ended, too, and says so.
  if (connection_ && !sandbox_->made()) co_return;
  if (connection_) {
    if (auto attached = connection_->Attach(*sandbox_); !attached) {
      sandbox_->Kill();
      co_return Fail(std::move(attached).error(), false);
    }
  }
  const bool waits = !device_ && cpu_group_;
  if (auto limited = LimitCpus(); !limited) {
    sandbox_->Kill();
    co_return Fail(std::move(limited).error(), false);
  }
  if (waits) asio::co_spawn(control_.get_executor(), SendStart(), asio::detached);
  if (device_) {
    Result<UniqueFd> edge = sandbox_->TakeEdge();
    Result<void> raised;
    if (edge) {
      raised = co_await device_->Raise(*std::move(edge));
    } else {
      raised = std::unexpected(std::move(edge).error());
    }
    if (!control_.is_open()) co_return;  // it was closed meanwhile
    if (!raised) {
      sandbox_->Kill();
      co_return Fail(std::move(raised).error(), false);
    }
    if (connection_) connection_->GainDevice();
    asio::co_spawn(control_.get_executor(), SendStart(), asio::detached);
  }
  set_up_ = true;
  TellBuilt();
  if (!device_) co_return;
  co_await device_->Watch();
  if (connection_ && control_.is_open()) connection_->LoseDevice();
}

asio::awaitable<void> Box::WatchControl() {
  const auto self = shared_from_this();
  wire::FrameBuffer frames(4096);  // init's reports are small; a larger one is a lie
  std::array<char, 4096> buffer;
  for (;;) {
    boost::system::error_code error;
    auto token = Redirect(error);
    const auto space = asio::buffer(buffer);
    const std::size_t count = co_await control_.async_read_some(space, token);
    if (error) {
      // The set-up's own words, when there are any, say more than "gone".
      if (error != asio::error::operation_aborted && sandbox_->setup_fd() >= 0) {
        if (auto read = sandbox_->ReadSetup(); !read)
          co_return Fail(std::move(read).error(), false);
      }
      co_return Fail(sandbox_->WhyGone(), true);
    }
    frames.Append({buffer.data(), count});
    for (;;) {
      auto payload = frames.Next();
      if (payload && payload->empty()) break;
      auto decoded = payload ? wire::DecodeReport(*payload)
                             : Result<wire::Report>(std::unexpected(std::move(payload).error()));
      const bool ours =
          decoded && std::visit([&](const auto& r) { return r.nonce == nonce_; }, *decoded);
      if (!decoded || !ours) {
        co_return Fail(decoded
                           ? Error{Errc::kProtocol, "the sandbox answered another question", {}, 0}
                           : std::move(decoded).error(),
                       false);
      }
      if (events_.reported) events_.reported(*decoded);
      const bool last = wire::IsLast(*decoded) && (life_ == wire::Life::kOnce ||
                                                   std::holds_alternative<wire::Refused>(*decoded));
      if (last) co_return;
    }
  }
}

void Box::Silence() {
  events_ = {};
  if (connection_) connection_->Unpublish();
  // What still waits on the loop may outlive the proxy that it refers to.
  connection_.reset();
  if (device_) device_->Close();
}

void Box::Close() {
  Silence();
  boost::system::error_code ignored;
  for (stream_descriptor* each : {&control_, &setup_}) {
    if (each->is_open()) each->close(ignored);
  }
}

Result<UniqueFd> OpenNothing() {
  UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (fd) return fd;
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot open /dev/null");
}

Result<OutputPipes> MakeOutputPipes(backend::Channels& channels) {
  IGLOO_ASSIGN(FdPair out, MakePipe());
  IGLOO_ASSIGN(FdPair err, MakePipe());
  channels.standard_output = std::move(out.second);
  channels.standard_error = std::move(err.second);
  return OutputPipes{std::move(out.first), std::move(err.first)};
}

}  // namespace igloo::session
