#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "network/control.h"
#include "session/network/proxy_process.h"

namespace igloo::session {

class Connection;

/// Who may share an igloo-proxy: sandboxes of one principal that use the same secrets. A process
/// that hostile code takes over knows its own secrets and nobody else's. Placeholders stand for the
/// secrets: each value has one of its own, and they are no secret.
std::string TrustDomainOf(const network::Wanted& wanted);

/// The igloo-proxy processes of this process, one for each trust domain. One is started when a
/// sandbox of its domain has something for it, and ended when there has been none for a while.
/// Should one end, the network of all sandboxes that it served is closed and stays so; the next
/// sandbox gets another one. One thread; outlives the event loop.
class Proxy {
 public:
  struct Options {
    std::string program = {};
    std::string resolver = {};  ///< addresses of name servers; empty: this machine's
    std::string roots = {};     ///< a file of certificates to trust; empty: this machine's
    /// Hears every decision.
    std::function<void(const network::Record&)> record = {};
    /// Hears what goes wrong in the background, a sentence each.
    Log::Line note = {};
    /// One that serves nobody ends after this time. Starting one takes some 10 ms.
    std::chrono::milliseconds idle{30'000};
    std::size_t most = 32;  ///< processes at once
  };

  Proxy(boost::asio::io_context& loop, Options options);
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  ~Proxy();

  using Answer = ProxyProcess::Answer;
  /// The process for a domain, which serves one sandbox more from now on. Fails when it cannot be
  /// started, or when too many serve others.
  Result<std::shared_ptr<ProxyProcess>> Join(const std::string& domain);
  /// It serves one sandbox less.
  void Release(const std::shared_ptr<ProxyProcess>& process);

  /// The network of the sandbox of this name; null: there is none.
  Connection* Find(std::string_view sandbox) const;
  /// The one that this port of the host leads to; null: none of these.
  Connection* HolderOf(std::uint16_t port) const;
  /// Names are given once: false when another has it.
  bool Enter(const std::string& sandbox, Connection& connection);
  void Leave(const std::string& sandbox);

  /// Somebody else's decision, for whoever hears them all.
  void Tell(const network::Record& record) const {
    if (options_.record) options_.record(record);
  }
  /// The event loop has ended.
  void Close();

  /// For the next one that is started: one that runs goes on with what it was given.
  void set_resolver(std::string addresses) { options_.resolver = std::move(addresses); }
  /// How many processes there are.
  std::size_t size() const { return served_.size(); }

 private:
  /// A process and whom it serves.
  struct Served {
    std::shared_ptr<ProxyProcess> process;  // shared with the connections of its sandboxes
    std::size_t sandboxes = 0;
    std::unique_ptr<boost::asio::steady_timer> idle = {};  ///< while it serves none
  };

  Result<std::shared_ptr<ProxyProcess>> Start(const std::string& domain);
  /// Ends the one that has served nobody for the longest time; false: all serve somebody.
  bool EndIdle();
  void Hear(const ProxyProcess& from, const network::Record& record) const;
  void Lost(const std::string& domain, const Error& why);

  boost::asio::io_context& loop_;
  Options options_;
  std::map<std::string, Served> served_ = {};                         ///< by trust domain
  std::map<std::string, Connection*, std::less<>> connections_ = {};  ///< they leave by themselves
};

}  // namespace igloo::session
