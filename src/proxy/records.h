#pragma once

#include <deque>

#include "network/control.h"
#include "proxy/asio.h"

namespace igloo::proxy {

/// What is told to igloo, in order. When igloo does not listen, a bounded number of messages waits;
/// then records are dropped and counted, answers to orders never.
class Records {
 public:
  /// `control` is borrowed and does not block.
  Records(const asio::any_io_executor& executor, int control);
  ~Records();

  void Say(const network::News& news);
  /// Fills in the time.
  void Add(network::Record record);

 private:
  void Flush();

  asio::posix::stream_descriptor control_;
  std::deque<std::string> waiting_ = {};
  bool flushing_ = false;
  std::uint64_t lost_ = 0;
};

}  // namespace igloo::proxy
