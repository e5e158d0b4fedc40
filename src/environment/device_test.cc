#include "environment/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::environment {
namespace {

const std::vector<std::string> kClosed = {"10.0.0.0/8", "127.0.0.0/8", "93.184.217.1/32"};
constexpr const char* kForwarded = sandbox::own_network::kResolver;

TEST(ResolverFor, TheFirstThatTheDeviceLeadsToIsAsked) {
  EXPECT_EQ(ResolverFor("9.9.9.9", "nameserver 1.1.1.1\n", kClosed), "9.9.9.9");
  EXPECT_EQ(ResolverFor("10.0.0.1, 2620:fe::fe,9.9.9.9", "", kClosed), "9.9.9.9");
  EXPECT_EQ(ResolverFor("", "# none\nnameserver 1.1.1.1\nnameserver 9.9.9.9\n", kClosed),
            "1.1.1.1");
}

TEST(ResolverFor, OneOfTheHostsThatIsClosedIsAskedByTheCarrier) {
  EXPECT_EQ(ResolverFor("", "search lan\nnameserver 127.0.0.53\n", kClosed), kForwarded);
  EXPECT_EQ(ResolverFor("", "nameserver ::1\nnameserver 10.0.0.1\n", kClosed), kForwarded);
  EXPECT_EQ(ResolverFor("", "nameserver 93.184.217.1\n", kClosed), kForwarded);
}

TEST(ResolverFor, AChosenOneThatCannotBeReachedIsNotReplaced) {
  EXPECT_EQ(ResolverFor("10.0.0.1", "nameserver 1.1.1.1\n", kClosed), "");
}

TEST(ResolverFor, WithoutOneNobodyIsAsked) {
  EXPECT_EQ(ResolverFor("", "", kClosed), "");
  EXPECT_EQ(ResolverFor("", "nameserver fe80::1%eth0\n", kClosed), "");
}

}  // namespace
}  // namespace igloo::environment
