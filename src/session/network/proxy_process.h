#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/spawn.h"
#include "base/unique_fd.h"
#include "network/control.h"

namespace igloo::session {

/// One igloo-proxy from its start to its end. Once it has ended, it stays so. Made by Start; one
/// thread; ends before the event loop does, or is closed.
class ProxyProcess : public std::enable_shared_from_this<ProxyProcess> {
 public:
  struct Options {
    std::string program = {};
    std::vector<std::string> arguments = {};  ///< behind the number of its channel
    /// Hears every record about a sandbox that it was given, and from whom.
    std::function<void(const ProxyProcess& from, const network::Record&)> record = {};
    /// It has ended without being closed; what waited for an answer has got this error already.
    std::function<void(const Error&)> lost = {};
  };
  static Result<std::shared_ptr<ProxyProcess>> Start(boost::asio::io_context& loop,
                                                     Options options);
  ProxyProcess(const ProxyProcess&) = delete;
  ProxyProcess& operator=(const ProxyProcess&) = delete;
  ~ProxyProcess();

  using Answer = std::function<void(Result<void>)>;
  /// Orders are carried out in the order in which they come. The answer may come at once.
  void Send(network::Command command, std::vector<UniqueFd> descriptors, Answer answer);
  /// Takes all that it has said until now.
  void Settle();
  /// Ends it. Nobody is answered any more.
  void Close();

  bool alive() const { return static_cast<bool>(child_); }
  pid_t pid() const { return child_ ? child_.pid() : -1; }

 private:
  struct Waiting {
    std::uint64_t number = 0;
    std::string text = {};
    std::vector<UniqueFd> descriptors = {};
  };

  explicit ProxyProcess(Options options) : options_(std::move(options)) {}
  Result<void> Spawn(boost::asio::io_context& loop);
  void Flush();
  void Listen();
  void Take(const network::News& news);
  void TakeRecord(const network::Record& record);
  /// Keeps `sandboxes_` true to an order that is sent.
  void Note(const network::Command& command);
  void Answered(std::uint64_t number, Result<void> result);
  /// It is gone, or says what it may not.
  void Lose(const Error& why);

  Options options_;
  Child child_ = {};
  std::unique_ptr<boost::asio::posix::stream_descriptor> control_ = {}, writable_ = {};
  bool ready_ = false, flushing_ = false;
  std::string last_words_ = {};  ///< why it ends
  std::uint64_t orders_ = 0;
  std::deque<Waiting> waiting_ = {};
  std::map<std::uint64_t, Answer> asked_ = {};
  /// Sandboxes that it was given; of those that have ended, the last ones, of which it may still
  /// have something to tell.
  std::set<std::string> sandboxes_ = {};
  std::deque<std::string> ended_ = {};
};

}  // namespace igloo::session
