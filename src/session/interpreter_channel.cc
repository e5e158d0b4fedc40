// What goes over the channel to an interpreter's driver, and what comes.

#include "session/files/project_check.h"
#include "session/interpreter_state.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

namespace {

/// Of what an interpreter said; more than its pipe holds.
constexpr std::size_t kAtOnce = 1U << 20;

}  // namespace

std::string Interpreter::State::Order(const Call& call) {
  ++last_id;
  return EncodeOrder("run", last_id, call.code, call.manner == Manner::kEcho ? "echo" : "-");
}

void Interpreter::State::Take(Said came) {
  // A word about a call that is not under way is somebody else's, or a lie.
  const auto under_way = [this](std::uint64_t id) { return running && id == last_id; };
  if (const auto* piece = std::get_if<said::Piece>(&came)) {
    if (!under_way(piece->id)) TakeIdle(piece->bytes);
    return;  // nobody waits for one
  }
  if (auto* shown = std::get_if<said::Shown>(&came)) {
    if (!under_way(shown->id)) return TakeIdle(shown->last_bytes);
    part_bytes += shown->part.bytes.size();
    if (part_bytes <= options.capture_limit && parts.size() < 100) {
      parts.push_back(std::move(shown->part));
    }
  } else if (auto* end = std::get_if<said::Done>(&came)) {
    if (!under_way(end->id)) return TakeIdle(0);
    done = std::move(*end);
  } else if (const auto* still = std::get_if<said::StandsIn>(&came)) {
    if (!std::exchange(wants_stand_in, false)) return TakeIdle(options.capture_limit);
    stand_in = still->pid;
  } else {
    if (ready) return TakeIdle(options.capture_limit);
    ready = true;
    first_id = last_id + 1;
    pid = std::get<said::Ready>(came).pid;
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
  for (;;) {
    boost::system::error_code error;
    auto token = Redirect(error);
    // Not a read: what it has taken would be on its way while somebody else listens.
    co_await answers.async_wait(stream_descriptor::wait_read, token);
    if (error || !Listen()) co_return;
  }
}

bool Interpreter::State::Listen() {
  // Not for ever: somebody may say more than we can hear.
  for (std::size_t taken = 0; answers.is_open() && taken < kAtOnce;) {
    const ssize_t count = ::read(answers.native_handle(), room.data(), room.size());
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    // igloo-init holds the other end, too: an end of file means that the sandbox is gone.
    if (count == 0) return false;
    const auto came = static_cast<std::size_t>(count);
    frames.Append({room.data(), came});
    if (!TakeFrames()) return false;
    if (came < room.size()) return true;
    taken += came;
  }
  return answers.is_open();
}

void Interpreter::State::Forget() {
  for (std::size_t taken = 0; answers.is_open() && taken < kAtOnce;) {
    const ssize_t count = ::read(answers.native_handle(), room.data(), room.size());
    if (count <= 0) break;
    taken += static_cast<std::size_t>(count);
  }
  frames.Clear();
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
  if (sending == 0 && orders.is_open()) {
    const ssize_t count = ::write(orders.native_handle(), bytes.data(), bytes.size());
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (bytes.empty()) return;
  ++sending;
  asio::co_spawn(loop, SendLater(std::string(bytes)), asio::detached);
}

asio::awaitable<void> Interpreter::State::SendLater(std::string bytes) {
  const auto self = shared_from_this();
  co_await SendAll(bytes);
  --sending;
}

asio::awaitable<void> Interpreter::State::SendAll(std::string_view bytes) {
  const std::uint64_t mine = generation;
  for (std::size_t sent = 0; sent < bytes.size() && orders.is_open() && mine == generation;) {
    const ssize_t count = ::write(orders.native_handle(), bytes.data() + sent, bytes.size() - sent);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
      continue;
    }
    if (count < 0 && errno != EAGAIN && errno != EINTR) co_return;
    // One that ended will never read the rest.
    if (ended || failure) co_return;
    boost::system::error_code error;
    auto token = Redirect(error);
    co_await orders.async_wait(stream_descriptor::wait_write, token);
    if (error) co_return;
  }
}

void Interpreter::State::CloseAll() {
  box->Close();
  boost::system::error_code ignored;
  for (stream_descriptor* each : {&answers, &orders}) {
    if (each->is_open()) each->close(ignored);
  }
  for (OutputPump& each : pumps) each.Close();
  changed.cancel();
  soon.cancel();
  // One that nobody used, too: an environment's interpreter may do anything while it waits.
  if (set_id.needed() && box->started()) {
    FinishAside(loop, std::move(set_id), *box, NoteEach(options.note));
  }
}

}  // namespace igloo::session
