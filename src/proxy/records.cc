#include "proxy/records.h"

#include <chrono>

#include "network/channel.h"

namespace igloo::proxy {

using network::News;
using network::Record;

namespace {

constexpr std::size_t kMostWaiting = 4096;

}  // namespace

Records::Records(const asio::any_io_executor& executor, int control)
    : control_(executor, control) {}

Records::~Records() { (void)control_.release(); }

void Records::Say(const News& news) {
  waiting_.push_back(network::Encode(news));
  if (!flushing_) Flush();
}

void Records::Add(Record record) {
  if (waiting_.size() >= kMostWaiting) {
    ++lost_;
    return;
  }
  record.time_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  record.lost = std::exchange(lost_, 0);
  Say(record);
}

void Records::Flush() {
  while (!waiting_.empty()) {
    const auto sent = network::SendPacket(control_.native_handle(), waiting_.front(), {});
    if (!sent) {
      waiting_.clear();  // igloo has gone, and whoever reads from it notices
      return;
    }
    if (*sent == network::Sent::kNoRoom) break;
    waiting_.pop_front();
  }
  if (waiting_.empty()) return;
  flushing_ = true;
  control_.async_wait(asio::posix::descriptor_base::wait_write,
                      [this](boost::system::error_code error) {
                        flushing_ = false;
                        if (!error) Flush();
                      });
}

}  // namespace igloo::proxy
