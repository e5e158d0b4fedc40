#include "copy/protocol.h"

#include <cstring>

#include "base/overloaded.h"
#include "base/text.h"

namespace igloo::copy {
namespace {

constexpr char kExpects = 'e', kExpectsClosed = 'E', kHolds = 'h', kGoesOn = 'g', kComplete = 'c',
               kWritten = 'w', kFailed = 'f';
constexpr std::size_t kLongestText = 1500;

Error Unknown(std::string_view who) {
  return {Errc::kProtocol, std::string(who) + " said what nobody understands", {}, 0};
}

}  // namespace

std::string Encode(const Order& order) {
  return {reinterpret_cast<const char*>(&order), sizeof order};
}

Result<Order> DecodeOrder(std::string_view packet) {
  Order order;
  if (packet.size() != sizeof order) return std::unexpected(Unknown("igloo"));
  std::memcpy(&order, packet.data(), sizeof order);
  const bool fork = order.kind == Order::Kind::kFork;
  const bool checkpoint = order.kind == Order::Kind::kCheckpoint;
  const bool sound = order.original > 0 &&
                     ((fork && order.copy > 0) || (checkpoint && order.restored_as > 0 &&
                                                   order.descriptor >= 3 && order.descriptor < 64));
  if (!sound) return std::unexpected(Unknown("igloo"));
  return order;
}

std::string Encode(const News& said) {
  return std::visit(Overloaded{[](const news::Expects& expects) {
                                 return std::string(1, expects.closed ? kExpectsClosed : kExpects);
                               },
                               [](const news::Holds& holds) {
                                 std::string packet(1 + sizeof holds.inner, kHolds);
                                 std::memcpy(packet.data() + 1, &holds.inner, sizeof holds.inner);
                                 return packet;
                               },
                               [](const news::GoesOn&) { return std::string(1, kGoesOn); },
                               [](const news::Complete&) { return std::string(1, kComplete); },
                               [](const news::Written&) { return std::string(1, kWritten); },
                               [](const news::Failed& failed) {
                                 std::string packet(1, kFailed);
                                 packet += failed.what.substr(0, kLongestText);
                                 packet += '\0';
                                 packet += failed.hint.substr(0, kLongestText);
                                 return packet;
                               }},
                    said);
}

Result<News> DecodeNews(std::string_view packet) {
  if (packet.empty() || packet.size() > kLongestPacket) {
    return std::unexpected(Unknown("igloo-copy"));
  }
  const char kind = packet.front();
  packet.remove_prefix(1);
  if ((kind == kExpects || kind == kExpectsClosed) && packet.empty()) {
    return news::Expects{kind == kExpectsClosed};
  }
  if (kind == kGoesOn && packet.empty()) return news::GoesOn{};
  if (kind == kComplete && packet.empty()) return news::Complete{};
  if (kind == kWritten && packet.empty()) return news::Written{};
  if (kind == kHolds && packet.size() == sizeof(std::int32_t)) {
    news::Holds holds;
    std::memcpy(&holds.inner, packet.data(), sizeof holds.inner);
    return holds;
  }
  const std::size_t end = packet.find('\0');
  if (kind != kFailed || end == packet.npos) return std::unexpected(Unknown("igloo-copy"));
  // People read it on a terminal.
  return news::Failed{.what = Printable(packet.substr(0, end)),
                      .hint = Printable(packet.substr(end + 1))};
}

}  // namespace igloo::copy
