#include "backend/microvm/orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace igloo::backend::microvm {
namespace {

using machine::Event;
using machine::EventKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Event EventOf(EventKind kind, std::string_view text, int status = 0) {
  Event event{.kind = kind, .sys_errno = status};
  event.text_size = static_cast<std::uint32_t>(text.size());
  std::memcpy(event.text, text.data(), text.size());
  return event;
}

TEST(EncodeOrders, HoldMountsAndOneRequestOfTheLauncher) {
  Division division;
  division.shares = {{"host", "/host", false}, {"share0", "/shares/0", true}};
  division.inside.run = {sandbox::step::Directory{"/x", 0755}};
  const machine::Way ways[] = {machine::Way::kInto, machine::Way::kOut};
  const auto orders = EncodeOrders(division, ways, {.seconds = 12, .seed = {1, 2}});
  ASSERT_TRUE(orders);
  machine::Launch launch{};
  std::memcpy(&launch, orders->data(), sizeof launch);
  EXPECT_EQ(launch.magic, machine::kMagic);
  EXPECT_EQ(launch.extra, 2U);
  EXPECT_EQ(launch.ways[1], machine::Way::kOut);
  EXPECT_EQ(launch.seconds, 12);
  EXPECT_EQ(launch.seed[1], 2);
  const std::string_view mounts(orders->data() + sizeof launch, launch.mounts_bytes);
  const std::string_view first("9p\0host\0/host\0ro,", 17);
  EXPECT_EQ(mounts.substr(0, first.size()), first);
  EXPECT_THAT(std::string(mounts), HasSubstr(std::string("/shares/0\0rw,", 13)));
  ASSERT_EQ(orders->size(), sizeof launch + launch.mounts_bytes + launch.request_bytes);
  ops::Request request{};
  std::memcpy(&request, orders->data() + sizeof launch + launch.mounts_bytes, sizeof request);
  EXPECT_EQ(request.magic, ops::kMagic);
  EXPECT_EQ(request.fd_count, 7)
      << "the answer, the channel, three streams and two of the program's";
  EXPECT_EQ(request.init_fds, 6U);
  EXPECT_EQ(request.run_bytes, sandbox::Encode(division.inside.run).size());
  EXPECT_EQ(launch.request_bytes, sizeof request + request.run_bytes);
}

TEST(EventsTest, AreHandedOutWhole) {
  const Event sent = EventOf(EventKind::kLost, "panic");
  const std::string_view bytes(reinterpret_cast<const char*>(&sent), sizeof sent);
  Events events;
  Event event{};
  events.Append(bytes.substr(0, 100));
  EXPECT_FALSE(events.Next(event));
  events.Append(bytes.substr(100));
  events.Append(bytes);
  EXPECT_TRUE(events.Next(event));
  EXPECT_EQ(event.kind, EventKind::kLost);
  EXPECT_TRUE(events.Next(event));
  EXPECT_FALSE(events.Next(event));
}

TEST(ExplainEvent, SaysHowAMachineEndedAndWhatItSaidLast) {
  EXPECT_THAT(ExplainEvent(EventOf(EventKind::kLost, "Kernel panic - not syncing", 0)).what,
              AllOf(HasSubstr("its kernel panicked"), HasSubstr("not syncing")));
  EXPECT_THAT(ExplainEvent(EventOf(EventKind::kLost, "", 128 + 9)).what,
              HasSubstr("QEMU was ended by signal 9"));
  EXPECT_THAT(ExplainEvent(EventOf(EventKind::kLost, "qemu: no such device", 1)).what,
              AllOf(HasSubstr("QEMU exited with 1"), HasSubstr("no such device")));
  Event failed = EventOf(EventKind::kFailed, "/host", 19);
  failed.stage = machine::Stage::kMount;
  EXPECT_THAT(ExplainEvent(failed).what,
              AllOf(HasSubstr("mounting '/host'"), HasSubstr("No such device")));
}

TEST(TextOf, IsSafeToShowWhateverAMachineWrote) {
  Event event = EventOf(EventKind::kLost, "\x1b[2J\nx");
  EXPECT_THAT(TextOf(event), AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\n"))));
  event.text_size = 0xFFFFFFFF;
  EXPECT_LE(TextOf(event).size(), 10 * sizeof event.text) << "never past its end";
}

}  // namespace
}  // namespace igloo::backend::microvm
