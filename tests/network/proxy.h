#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/spawn.h"
#include "network/control.h"
#include "world.h"

namespace igloo::testing {

/// igloo-proxy of this build, with the test in igloo's place.
class Proxy {
 public:
  Proxy();

  /// A sandbox "box" inside with these rules; ends the test when the proxy does not take it.
  void Add(std::vector<std::string> rules, network::Tier tier = network::Tier::kAllow,
           std::vector<network::Secret> secrets = {}, std::uint32_t connections = 1024);
  /// Sends an order and waits for its answer: empty, or what is wrong.
  std::string Order(network::Command command, const std::vector<int>& descriptors = {});
  std::string Replace(std::vector<std::string> rules);

  /// Where the sandbox finds it.
  std::uint16_t port() const { return port_; }
  std::string url(const std::string& scheme = "http") const;
  pid_t pid() const { return child_.pid(); }
  void Kill() { child_.KillAndReap(); }
  /// As if igloo had ended. The proxy's exit status.
  int Abandon();

  /// Waits for a record that suits; the test fails when none comes.
  network::Record WaitForRecord(const std::function<bool(const network::Record&)>& suits);
  network::Record WaitForRefusal();
  /// Of what was told already, without waiting: hosts that were refused.
  std::vector<std::string> ToldRefusals();
  /// Takes a record that was told already.
  std::optional<network::Record> TakeTold(const std::function<bool(const network::Record&)>& suits);

  /// curl inside, through the proxy.
  Outcome Curl(std::vector<std::string> words) const;
  /// A connection from inside to the proxy, on which every read waits a bounded time.
  UniqueFd Connect() const { return ConnectTo(port_); }
  /// The same to another port inside.
  static UniqueFd ConnectTo(std::uint16_t port);
  /// Sends bytes from inside and reads to the end of the connection.
  std::string Talk(const std::string& bytes) const;

 private:
  /// The next message; fails the test when none comes.
  network::News Next();
  /// Takes what lies in the channel.
  void TakeMessage();

  UniqueFd control_ = {};
  Child child_ = {};
  std::uint16_t port_ = 0;
  std::uint64_t orders_ = 0;
  std::deque<network::News> told_ = {};        ///< that nobody has taken yet
  std::vector<network::Record> records_ = {};  ///< that nobody asked for yet
};

/// Reads until `fd` ends, or until `count` bytes have come.
std::string ReadUntil(int fd, std::size_t count = SIZE_MAX);
/// Reads to the end and says how many bytes there were.
std::size_t CountToEnd(int fd);
void Send(int fd, std::string_view bytes);

}  // namespace igloo::testing
