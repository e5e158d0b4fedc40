#include "proxy/records.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "network/channel.h"

namespace igloo::proxy {

using network::News;
using network::Record;
using Event = Record::Event;

namespace {

constexpr std::chrono::milliseconds kMoment(10);
constexpr std::size_t kMostGathered = 64;
/// A packet that is as long takes no further message: it stays one that travels without a file.
constexpr std::size_t kLongPacket = 16U << 10;

/// SECURITY: code chooses the words of what it asks for, and records must fit into one packet. A
/// rule that was cut off would be another one.
void Shorten(Record& record) {
  constexpr std::size_t kLongest = 512;
  if (record.refusal.size() > kLongest) record.refusal.resize(kLongest);
  if (record.remedy.size() > kLongest) record.remedy.clear();
}

/// SECURITY: what is refused must be there when the code acts on it, and so must be a place that
/// bytes go to, even if they are what brings the proxy down.
bool CanWait(const Record& record, Records::Place place) {
  if (!record.refusal.empty() || record.event == Event::kRefused) return false;
  if (record.event == Event::kUsed || record.event == Event::kReturned) return false;
  return record.event == Event::kEnded || place == Records::Place::kKnown;
}

}  // namespace

Records::Records(const asio::any_io_executor& executor, int control)
    : control_(executor, control), soon_(executor) {}

Records::~Records() {
  Pack();
  Send();
  (void)control_.release();
}

void Records::Say(const News& news) {
  Pack();
  packets_.push_back({.text = network::Encode(news)});
  Send();
}

void Records::Add(Record record, std::shared_ptr<Backlog> backlog, Place place) {
  record.time_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  record.lost = std::exchange(lost_, 0);
  Shorten(record);
  const bool can_wait = CanWait(record, place);
  // What began a moment ago and is over now.
  const auto began = std::ranges::find_if(gathered_, [&](const Gathered& each) {
    return record.event == Event::kEnded && each.record.connection == record.connection;
  });
  if (began != gathered_.end()) {
    record.lost += began->record.lost;
    began->record = std::move(record);
  } else {
    gathered_.push_back({std::move(record), Backlog::Entry(std::move(backlog))});
  }
  if (can_wait && gathered_.size() < kMostGathered) return SendSoon();
  Pack();
  Send();
}

void Records::Pack() {
  Packet packet;
  const auto close = [&] {
    if (!packet.records.empty()) packets_.push_back(std::exchange(packet, {}));
  };
  for (Gathered& each : gathered_) {
    if (!packet.records.empty()) packet.text += '\n';
    packet.text += network::Encode(News(std::move(each.record)));
    packet.records.push_back(std::move(each.entry));
    if (packet.text.size() >= kLongPacket) close();
  }
  close();
  gathered_.clear();
}

void Records::SendSoon() {
  if (std::exchange(sends_soon_, true)) return;
  soon_.expires_after(kMoment);
  soon_.async_wait([this](boost::system::error_code cancelled) {
    sends_soon_ = false;
    if (cancelled || gathered_.empty()) return;
    Pack();
    Send();
  });
}

void Records::Send() {
  if (waits_for_room_) return;
  while (!packets_.empty()) {
    const auto sent = network::SendPacket(control_.native_handle(), packets_.front().text, {});
    const int why = sent ? 0 : sent.error().sys_errno;
    if (why == EPIPE || why == ECONNRESET) {
      packets_.clear();  // igloo has gone, and whoever reads from it notices
      return;
    }
    if (sent && *sent == network::Sent::kNoRoom) break;
    if (!sent) lost_ += packets_.front().records.size();
    packets_.pop_front();
  }
  if (packets_.empty()) return;
  waits_for_room_ = true;
  control_.async_wait(asio::posix::descriptor_base::wait_write,
                      [this](boost::system::error_code error) {
                        waits_for_room_ = false;
                        if (!error) Send();
                      });
}

}  // namespace igloo::proxy
