#include "jail/route_message.h"

#include <gtest/gtest.h>
#include <linux/if_link.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/file.h"

namespace igloo::jail {
namespace {

/// Plays the kernel: answers one message, and keeps what was sent.
class FakeKernel {
 public:
  bool Send(RouteMessage& message, int error) {
    const struct {
      nlmsghdr head;
      nlmsgerr body;
    } answer = {{sizeof answer, NLMSG_ERROR, 0, 0, 0}, {.error = -error, .msg = {}}};
    return SendAnswered(message, &answer, sizeof answer);
  }
  bool SendAnswered(RouteMessage& message, const void* answer, size_t size) {
    EXPECT_EQ(::send(ends_.second.get(), answer, size, 0), static_cast<ssize_t>(size));
    const bool fine = message.Send(ends_.first.get());
    const int said = errno;
    sent_.resize(4096);
    const ssize_t count = ::recv(ends_.second.get(), sent_.data(), sent_.size(), MSG_DONTWAIT);
    sent_.resize(count > 0 ? static_cast<size_t>(count) : 0);
    errno = said;
    return fine;
  }

  const nlmsghdr& head() const { return *reinterpret_cast<const nlmsghdr*>(sent_.data()); }
  /// The attribute at an offset of the message.
  rtattr At(size_t offset) const {
    rtattr attribute;
    memcpy(&attribute, sent_.data() + offset, sizeof attribute);
    return attribute;
  }
  std::string Data(size_t offset, size_t size) const { return {sent_.data() + offset, size}; }
  size_t sent() const { return sent_.size(); }

 private:
  FdPair ends_ = MakeSocketPair(SOCK_SEQPACKET).value();
  std::vector<char> sent_ = {};
};

constexpr size_t kFirst = NLMSG_LENGTH(sizeof(ifinfomsg));

TEST(RouteMessages, AskForAnAnswerAndSayHowLongTheyAre) {
  RouteMessage message(RTM_NEWLINK, NLM_F_CREATE, ifinfomsg{});
  FakeKernel kernel;
  EXPECT_TRUE(kernel.Send(message, 0));
  EXPECT_EQ(kernel.head().nlmsg_type, RTM_NEWLINK);
  EXPECT_EQ(kernel.head().nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE);
  EXPECT_EQ(kernel.head().nlmsg_len, kFirst);
  EXPECT_EQ(kernel.sent(), kFirst);
}

TEST(RouteMessages, PadAttributesButDoNotCountThePadding) {
  RouteMessage message(RTM_NEWLINK, 0, ifinfomsg{});
  message.Put(IFLA_IFNAME, "eth0");
  message.Put(IFLA_MTU, 1500);
  FakeKernel kernel;
  EXPECT_TRUE(kernel.Send(message, 0));
  EXPECT_EQ(kernel.At(kFirst).rta_type, IFLA_IFNAME);
  EXPECT_EQ(kernel.At(kFirst).rta_len, RTA_LENGTH(5));
  EXPECT_EQ(kernel.Data(kFirst + sizeof(rtattr), 5), std::string("eth0\0", 5));
  EXPECT_EQ(kernel.At(kFirst + RTA_SPACE(5)).rta_type, IFLA_MTU);
  EXPECT_EQ(kernel.sent(), kFirst + RTA_SPACE(5) + RTA_SPACE(4));
}

TEST(RouteMessages, NestAttributes) {
  RouteMessage message(RTM_NEWLINK, 0, ifinfomsg{});
  const size_t outer = message.Begin(IFLA_LINKINFO);
  message.Put(IFLA_INFO_KIND, "veth");
  message.End(outer);
  FakeKernel kernel;
  EXPECT_TRUE(kernel.Send(message, 0));
  EXPECT_EQ(outer, kFirst);
  EXPECT_EQ(kernel.At(outer).rta_len, sizeof(rtattr) + RTA_SPACE(5));
  EXPECT_EQ(kernel.At(outer + sizeof(rtattr)).rta_type, IFLA_INFO_KIND);
}

TEST(RouteMessages, FailWithWhatTheKernelSays) {
  RouteMessage message(RTM_NEWROUTE, 0, rtmsg{});
  EXPECT_FALSE(FakeKernel().Send(message, EEXIST));
  EXPECT_EQ(errno, EEXIST);
}

TEST(RouteMessages, FailWhenTheAnswerIsNone) {
  RouteMessage message(RTM_NEWROUTE, 0, rtmsg{});
  EXPECT_FALSE(FakeKernel().SendAnswered(message, "x", 1));
  nlmsghdr other[4] = {};
  other[0].nlmsg_type = NLMSG_DONE;
  EXPECT_FALSE(FakeKernel().SendAnswered(message, other, sizeof other));
  EXPECT_EQ(errno, EBADMSG);
}

TEST(RouteMessages, ThatAreTooLongAreNotSent) {
  RouteMessage message(RTM_NEWLINK, 0, ifinfomsg{});
  const std::vector<char> large(400);
  message.Put(IFLA_IFALIAS, large.data(), large.size());
  message.Put(IFLA_IFALIAS, large.data(), large.size());
  FakeKernel kernel;
  EXPECT_FALSE(kernel.Send(message, 0));
  EXPECT_EQ(errno, EMSGSIZE);
  EXPECT_EQ(kernel.sent(), 0U);
}

}  // namespace
}  // namespace igloo::jail
