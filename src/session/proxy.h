#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/spawn.h"
#include "base/unique_fd.h"
#include "network/control.h"

namespace igloo::session {

class Connection;

/// igloo-proxy, one for all sandboxes of this process. It is started when the first of them has
/// something for it. Should it end, the network of all sandboxes that it served is closed and stays
/// so; the next sandbox gets another one. One thread; outlives the event loop.
class Proxy {
 public:
  struct Options {
    std::string program = {};
    std::string resolver = {};  ///< addresses of name servers; empty: this machine's
    std::string roots = {};     ///< a file of certificates to trust; empty: this machine's
    /// Hears every decision.
    std::function<void(const network::Record&)> record = {};
    /// Hears what goes wrong in the background, a sentence each.
    std::function<void(std::string_view)> note = {};
  };

  Proxy(boost::asio::io_context& loop, Options options);
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  ~Proxy();

  using Answer = std::function<void(Result<void>)>;
  /// Orders are carried out in the order in which they come. The answer may come at once.
  void Send(network::Command command, std::vector<UniqueFd> descriptors, Answer answer);

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
  /// Takes all that it has said until now: a refusal comes here before the sandbox hears of it.
  void Settle();
  /// The event loop has ended.
  void Close();

  /// For the next one that is started: one that runs goes on with what it was given.
  void set_resolver(std::string addresses) { options_.resolver = std::move(addresses); }
  /// Its process; -1: there is none.
  pid_t pid() const { return child_ ? child_.pid() : -1; }

 private:
  struct Waiting {
    std::uint64_t number = 0;
    std::string text = {};
    std::vector<UniqueFd> descriptors = {};
  };

  Result<void> Start();
  void Flush();
  void Listen();
  void Take(const network::News& news);
  void Answered(std::uint64_t number, Result<void> result);
  /// It is gone, or says what it may not.
  void Lose(const Error& why);
  void Note(std::string_view text) const;

  boost::asio::io_context& loop_;
  Options options_;
  Child child_ = {};
  /// None where there is no process: they end before the event loop does.
  std::unique_ptr<boost::asio::posix::stream_descriptor> control_ = {}, writable_ = {};
  bool ready_ = false, flushing_ = false;
  std::string last_words_ = {};  ///< why it ends
  std::uint64_t orders_ = 0;
  std::deque<Waiting> waiting_ = {};
  std::map<std::uint64_t, Answer> asked_ = {};
  std::map<std::string, Connection*, std::less<>> connections_ = {};  ///< they leave by themselves
};

}  // namespace igloo::session
