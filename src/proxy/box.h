#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "network/control.h"
#include "network/scan.h"
#include "proxy/pump.h"
#include "proxy/records.h"
#include "proxy/resolver.h"
#include "proxy/tls.h"

namespace igloo::proxy {

/// What all sandboxes use together.
struct Shared {
  asio::any_io_executor executor = {};
  std::unique_ptr<Resolver> resolver = {};
  std::unique_ptr<Tls> tls = {};
  std::unique_ptr<Records> records = {};
  Pipes& pipes;                   ///< outlives everything that is under way
  std::uint64_t connections = 0;  ///< counted up: the number of the next one
};

class Box;

/// A connection of a sandbox under way. A box borrows it for as long as it lives.
class Connection {
 public:
  explicit Connection(std::shared_ptr<Box> box);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection();

  virtual void Stop() = 0;
  /// Stops what the rules of its box do not allow any more.
  virtual void ReconsiderRules() {}

  const std::shared_ptr<Box>& box() const { return box_; }

 private:
  std::shared_ptr<Box> box_;  // shared with all connections of the sandbox
};

/// One sandbox: its rules and its secrets, and everything that it has under way. One thread.
class Box : public std::enable_shared_from_this<Box> {
 public:
  Box(Shared& shared, network::AddSandbox order, network::RuleSet rules);

  /// Takes connections until it is stopped.
  void Listen(UniqueFd listener);
  Result<void> AddForward(const network::AddForward& order, std::vector<UniqueFd> descriptors);
  /// Seen whole by everything that is decided from now on; what is under way and not allowed any
  /// more ends.
  void SetRules(network::RuleSet rules);
  /// The same, with rules for one connection each.
  void SetRules(const network::ReplaceRules& order, network::RuleSet rules);
  /// A rule was used; one for a single connection is gone with that, and true is returned.
  bool UseUp(const std::string& rule);
  bool IsForOnce(const std::string& rule) const;
  void Stop();
  /// Once it was stopped: waits until nothing of it is under way, for a short while at most.
  asio::awaitable<void> Gone();

  Shared& shared() const { return shared_; }
  const std::string& id() const { return order_.sandbox; }
  const std::shared_ptr<const network::RuleSet>& rules() const { return rules_; }
  const std::vector<network::Secret>& secrets() const { return order_.secrets; }
  /// What no answer may hold.
  const network::SecretPatterns& patterns() const { return patterns_; }

  /// Adds a record; only what was decided while the backlog was not full has any.
  void Tell(network::Record record, Records::Place place = Records::Place::kNew) {
    shared_.records->Add(std::move(record), backlog_, place);
  }
  Backlog& backlog() const { return *backlog_; }

  /// Waits until there is room for one more connection; false when the box has ended.
  asio::awaitable<bool> HasRoom();
  /// The next connection of a listener; not valid when the box has ended.
  asio::awaitable<UniqueFd> NextOf(Socket& listener);
  /// A listener that ends with the box.
  std::shared_ptr<Socket> Hold(UniqueFd listener);

 private:
  friend class Connection;
  asio::awaitable<void> Serve(std::shared_ptr<Socket> listener);

  Shared& shared_;
  network::AddSandbox order_;
  network::SecretPatterns patterns_;
  // Shared with decisions under way, which see one list from begin to end.
  std::shared_ptr<const network::RuleSet> rules_;
  network::ReplaceRules listed_ = {};  ///< what they were made of, when some are for once
  std::set<Connection*> live_ = {};
  std::vector<std::shared_ptr<Socket>> listeners_ = {};  // shared with who accepts from them
  std::shared_ptr<Backlog> backlog_;  // shared with records that are not told yet
  asio::steady_timer room_;
  bool stopped_ = false;
};

}  // namespace igloo::proxy
