#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "network/control.h"
#include "proxy/asio.h"
#include "proxy/backlog.h"

namespace igloo::proxy {

/// What is told to igloo, in order. Refusals and connections to new places are told at once, before
/// the code hears of them. What happens on a connection that igloo knows of waits a moment for more
/// of its kind, and what is over by then is one record. When igloo does not listen, they wait: it
/// is for those who ask to wait, too, when the backlog of their sandbox is full. Answers to orders
/// come after what was told before them, and wait for nothing else.
class Records {
 public:
  /// `control` is borrowed and does not block.
  Records(const asio::any_io_executor& executor, int control);
  ~Records();

  void Say(const network::News& news);
  /// Where an opened connection leads to.
  enum class Place : std::uint8_t {
    kNew,
    kKnown,  ///< where an earlier request on the same connection was
  };
  /// Fills in the time.
  void Add(network::Record record, std::shared_ptr<Backlog> backlog, Place place = Place::kNew);

 private:
  struct Gathered {
    network::Record record;
    Backlog::Entry entry;
  };
  struct Packet {
    std::string text = {};
    std::vector<Backlog::Entry> records = {};
  };

  /// Puts what is gathered into packets.
  void Pack();
  void Send();
  void SendSoon();

  asio::posix::stream_descriptor control_;
  asio::steady_timer soon_;
  bool sends_soon_ = false, waits_for_room_ = false;
  std::vector<Gathered> gathered_ = {};
  std::deque<Packet> packets_ = {};
  std::uint64_t lost_ = 0;  ///< that the kernel did not take
};

}  // namespace igloo::proxy
