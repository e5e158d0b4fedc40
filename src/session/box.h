#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "base/error.h"
#include "cgroup/groups.h"
#include "session/network/connection.h"
#include "session/network/device.h"

namespace igloo::session {

/// A sandbox and the channel to its igloo-init: orders go in, reports come out. Made with
/// std::make_shared; one thread.
class Box : public std::enable_shared_from_this<Box> {
 public:
  /// Called from the event loop. None is called after Close.
  struct Events {
    std::function<void(const wire::Report&)> reported = {};
    /// Its igloo-init runs, and has all that it needs for the payload.
    std::function<void()> built = {};
    /// Nothing more will be reported. `vanished`: it ended without a word.
    std::function<void(Error error, bool vanished)> failed = {};
  };

  /// `plan` and `backend` outlive it.
  Box(boost::asio::io_context& loop, const sandbox::Plan& plan, backend::Backend& backend,
      Events events);

  /// Starts the sandbox with the payload's ends of everything that it is given, counted in `group`
  /// if there is one.
  Result<void> Start(backend::Channels channels, const cgroup::Lease* group, wire::Life life,
                     wire::Birth birth = wire::Birth::kStarted,
                     wire::Watched watched = wire::Watched::kNothing);
  /// Its network, beyond loopback. Before Start.
  void Connect(std::shared_ptr<Connection> connection) { connection_ = std::move(connection); }
  /// Begins to send orders and to hear reports.
  void Watch();
  void Tell(wire::ToInit kind) { Send(wire::EncodeSimple(kind)); }
  /// The file that the payload waits for is there, as wire::kNewFile, and is to be put in its place
  /// by this name; 0: the payload has all the time that there is.
  void Go(std::uint64_t time_limit_ms, std::string_view name) {
    Send(wire::EncodeGo(time_limit_ms, name));
  }
  /// Starts a program beside the payload, on this terminal; Events::reported hears of its end.
  /// Fails when the words cannot be passed, or nothing runs yet.
  Result<void> Join(std::uint32_t number, const std::vector<std::string>& argv, int terminal);
  /// Nothing is heard of it any more, and nobody reaches it; it lives on until Close.
  void Silence();
  void Close();

  bool started() const { return sandbox_ != nullptr; }
  /// There is none before Start.
  backend::Sandbox& sandbox() { return *sandbox_; }

 private:
  void Send(std::string frame);
  void TellBuilt();
  boost::asio::awaitable<void> SendStart();
  Result<void> LimitCpus();
  boost::asio::awaitable<void> WatchSetup();
  boost::asio::awaitable<void> WatchControl();
  void Fail(Error error, bool vanished);

  const sandbox::Plan& plan_;
  backend::Backend& backend_;
  Events events_;
  wire::Nonce nonce_ = wire::NewNonce();
  wire::Life life_ = wire::Life::kOnce;
  std::unique_ptr<backend::Sandbox> sandbox_ = {};
  std::shared_ptr<Connection> connection_ = {};  // shared with whoever asks it for refusals
  std::optional<Device> device_ = {};            // of a plan with one, from Start on
  boost::asio::posix::stream_descriptor control_, setup_;
  std::string orders_ = {};  ///< the start message, and what is said before it is sent
  bool start_sent_ = false, set_up_ = false;
  UniqueFd cpu_group_ = {};  ///< that igloo-init has to be brought to before it hears its orders
};

/// The ends of two pipes for a payload's output, and /dev/null for its input unless there is some.
struct OutputPipes {
  UniqueFd output = {}, error = {};
};
Result<OutputPipes> MakeOutputPipes(backend::Channels& channels);
Result<UniqueFd> OpenNothing();

}  // namespace igloo::session
