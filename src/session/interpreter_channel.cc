// What goes over the channel to an interpreter's driver, and what comes.

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>

#include "base/file.h"
#include "session/interpreter_state.h"
#include "session/workspace.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

namespace {

/// The driver has made it, and nobody's code has run yet.
UniqueFd OpenCodeFile(backend::Sandbox& sandbox, const sandbox::Plan& plan) {
  if (sandbox.handed_out.size() < 2) return {};
  const std::string& path = plan.payload.argv.back();
  UniqueFd file = OpenBelow(sandbox.handed_out[1].get(), path.c_str() + path.rfind('/') + 1,
                            O_WRONLY | O_NONBLOCK | O_NOCTTY);
  sandbox.handed_out.resize(1);
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  // Its memory now, and not when the code is there; without, it is only slower.
  (void)::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, 1);
  return file;
}

}  // namespace

std::string Interpreter::State::Order(const Call& call) {
  ++last_id;
  std::string flags = call.manner == Manner::kOnce   ? "once"
                      : call.manner == Manner::kEcho ? "echo"
                                                     : "-";
  if (call.manner == Manner::kOnce) {
    const bool filed = code_file && WriteAll(code_file.get(), call.code);
    if (filed && call.way == kPlain) return std::string(kPlainOrder);
    if (filed) flags += ",filed";
    if (!call.way.empty()) flags.append(",").append(call.way);
  }
  return EncodeOrder("run", last_id, call.code, flags);
}

void Interpreter::State::Take(Said came) {
  // A word about a call that is not under way is somebody else's, or a lie.
  if (auto* shown = std::get_if<said::Shown>(&came)) {
    if (!running || shown->id != last_id) return TakeIdle(shown->part.bytes.size());
    part_bytes += shown->part.bytes.size();
    if (part_bytes <= options.capture_limit && parts.size() < 100) {
      parts.push_back(std::move(shown->part));
    }
  } else if (auto* end = std::get_if<said::Done>(&came)) {
    if (!running || end->id != last_id) return TakeIdle(0);
    done = std::move(*end);
  } else if (const auto* still = std::get_if<said::StandsIn>(&came)) {
    if (!std::exchange(wants_stand_in, false)) return TakeIdle(options.capture_limit);
    stand_in = still->pid;
  } else {
    if (ready) return TakeIdle(options.capture_limit);
    ready = true;
    first_id = last_id + 1;
    pid = std::get<said::Ready>(came).pid;
    code_file = OpenCodeFile(box->sandbox(), plan);
  }
  changed.cancel();
}

void Interpreter::State::TakeIdle(std::size_t bytes) {
  constexpr std::size_t kFrame = 64;
  idle_words += kFrame + bytes;
  if (idle_words < options.capture_limit) return;
  FailWith({Errc::kProtocol, "the interpreter said what it may not", {}, 0});
}

asio::awaitable<void> Interpreter::State::WatchDriver() {
  const auto self = shared_from_this();
  std::array<char, 16384> buffer;
  for (;;) {
    boost::system::error_code error;
    auto token = Redirect(error);
    co_await driver.async_wait(stream_descriptor::wait_read, token);
    if (error || !driver.is_open()) co_return;
    // Looked at first, and taken when whoever waits for it has it: taking it wakes the interpreter,
    // which then has the processor for a moment and nothing to do.
    const ssize_t count =
        ::recv(driver.native_handle(), buffer.data(), buffer.size(), MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    // igloo-init holds the other end, too: an end of file means that the sandbox is gone.
    if (count <= 0) co_return;
    const auto came = static_cast<std::size_t>(count);
    frames.Append({buffer.data(), came});
    if (!TakeFrames()) co_return;
    if (came < buffer.size()) co_await asio::post(loop, asio::use_awaitable);
    if (!driver.is_open()) co_return;
    (void)::recv(driver.native_handle(), buffer.data(), came, MSG_DONTWAIT);
  }
}

bool Interpreter::State::TakeFrames() {
  for (;;) {
    auto next = frames.Next();
    if (next && !*next) return true;
    if (next) {
      Take(*std::move(*next));
    } else {
      FailWith(std::move(next).error());
    }
    if (!failure) continue;
    // Nothing that it says counts any more, and nobody may be waiting for it just now.
    box->Tell(wire::ToInit::kKill);
    return false;
  }
}

void Interpreter::State::Send(std::string_view bytes) {
  // INVARIANT: orders follow each other; one that waits is not overtaken.
  if (sending == 0 && driver.is_open()) {
    const ssize_t count =
        ::send(driver.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (bytes.empty()) return;
  ++sending;
  asio::co_spawn(loop, SendLater(std::string(bytes)), asio::detached);
}

asio::awaitable<void> Interpreter::State::SendLater(std::string bytes) {
  const auto self = shared_from_this();
  if (!writer.is_open() && driver.is_open()) {
    UniqueFd copy = Duplicate(driver.native_handle());
    if (!copy) co_return FailWith({Errc::kExhausted, "cannot wait for the interpreter", {}, errno});
    writer.assign(copy.Release());
  }
  co_await SendAll(bytes);
  boost::system::error_code ignored;
  if (--sending == 0 && writer.is_open()) writer.close(ignored);
}

asio::awaitable<void> Interpreter::State::SendAll(std::string_view bytes) {
  const std::uint64_t mine = generation;
  for (std::size_t sent = 0; sent < bytes.size() && writer.is_open() && mine == generation;) {
    const ssize_t count = ::send(writer.native_handle(), bytes.data() + sent, bytes.size() - sent,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
      continue;
    }
    if (count < 0 && errno != EAGAIN && errno != EINTR) co_return;
    // One that ended will never read the rest.
    if (ended || failure) co_return;
    boost::system::error_code error;
    auto token = Redirect(error);
    co_await writer.async_wait(stream_descriptor::wait_write, token);
    if (error) co_return;
  }
}

}  // namespace igloo::session
