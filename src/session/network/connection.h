#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/error.h"
#include "network/wanted.h"
#include "session/network/proxy.h"
#include "session/network/refusals.h"

namespace igloo::session {

/// "run-PID-N": sandboxes that nobody named are called so, and no session is.
struct RunName {
  std::int64_t pid = 0;  ///< of the igloo that it belongs to
  std::uint64_t number = 0;
};
std::optional<RunName> ParseRunName(std::string_view name);

/// The network of one sandbox: sockets that were made inside it, and what they lead to. igloo-proxy
/// gets them when somebody connects for the first time, so a sandbox that has a network and does
/// not use it costs what one without does. Made with std::make_shared; one thread.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// `proxy` outlives it.
  Connection(boost::asio::io_context& loop, Proxy& proxy, network::Wanted wanted);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// How records and people call it; a number of its own unless somebody knows better. Not once
  /// igloo-proxy knows it.
  void Rename(std::string name);
  const std::string& name() const { return name_; }

  /// Takes the ports of the host that are to lead inside. Fails when somebody has them, and says
  /// who if that is a sandbox of this process.
  Result<void> Publish();
  /// Gives them back. Whoever wants them next can have them when this returns.
  void Unpublish();
  /// Whether this port of the host leads inside.
  bool HasPort(std::uint16_t outside) const;
  /// Takes the sockets of a sandbox that stands.
  Result<void> Attach(backend::Sandbox& sandbox);

  enum class Duration : std::uint8_t {
    kSession,  ///< as long as the sandbox lives
    kOnce,     ///< for one connection
  };
  /// Allows more, at once. The answer says whether it counts now.
  void Allow(const std::string& rule, Duration duration, Proxy::Answer answer);

  /// Whether this is the igloo-proxy that has everything.
  bool IsServedBy(const ProxyProcess& process) const { return process_.get() == &process; }
  /// A decision about it.
  void Hear(const network::Record& record);
  /// An igloo-proxy has ended, perhaps its own.
  void Lose(const ProxyProcess& process, const Error& why);
  /// Ends everything that is under way; when the answer comes, all of it was told.
  void End(Proxy::Answer answer);
  /// It has a device: what goes through that is recorded by nobody, but that it was there is.
  void GainDevice();
  /// Its device leads nowhere any more.
  void LoseDevice();
  /// What was refused since the last time.
  Refusals TakeRefusals();

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;
  struct Door {
    Descriptor listener;
    network::AddForward order = {};
  };

  void Watch(Descriptor& listener);
  void WatchAll(std::vector<Door>& doors);
  /// Somebody connects, or the rules change: from here on igloo-proxy has everything.
  void HandOver();
  /// An order to the igloo-proxy that has everything.
  void Send(network::Command command, std::vector<UniqueFd> descriptors, Proxy::Answer answer);
  void PassOn(std::vector<Door>& doors);
  Proxy::Answer Told();
  void ReplaceRules(Proxy::Answer answer);
  void Refuse(std::string place, std::string reason, std::string rule);
  void RecordDevice(network::Record::Event event);

  boost::asio::io_context& loop_;
  Proxy& proxy_;
  network::Wanted wanted_;
  std::vector<std::string> once_ = {};  ///< rules for one connection each
  std::string name_;
  Descriptor listener_;  ///< the proxy's own, inside
  std::vector<Door> inside_ = {}, outside_ = {};
  std::vector<UniqueFd> sockets_ = {};  ///< made inside, for those outside
  std::vector<UniqueFd> ports_ = {};    ///< the listeners outside, wherever they are used
  bool attached_ = false, handed_over_ = false, published_ = false;
  enum class DeviceState : std::uint8_t { kNone, kThere, kRecorded } device_ = DeviceState::kNone;
  /// The igloo-proxy that has everything, once it is handed over; null: none could be had.
  std::shared_ptr<ProxyProcess> process_ = {};  // shared with the sandboxes of its trust domain
  bool removed_ = false;                        ///< it was told to end everything
  Refusals refusals_ = {};
};

}  // namespace igloo::session
