#include "sandbox/payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::sandbox {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Policy Usable() {
  Policy policy;
  policy.argv = {"/bin/true"};
  policy.cwd = "/work";
  return policy;
}

TEST(CheckPolicyTest, TheHostsNetworkNeedsAReason) {
  Policy policy = Usable();
  policy.network = HostNetwork("");
  const auto checked = CheckPolicy(policy);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Errc::kInvalidArgument);
  EXPECT_THAT(checked.error().what, HasSubstr("without a reason"));
  policy.network = HostNetwork("it calls its model");
  EXPECT_TRUE(CheckPolicy(policy));
}

TEST(CheckPolicyTest, PortsAreOfAPrivateNetworkOnly) {
  Policy policy = Usable();
  policy.listen = {8080};
  EXPECT_TRUE(CheckPolicy(policy));
  policy.network = HostNetwork("because");
  const auto checked = CheckPolicy(policy);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Errc::kInvalidArgument);
  EXPECT_THAT(checked.error().what, HasSubstr("cannot listen"));
  policy.listen.clear();
  EXPECT_TRUE(CheckPolicy(policy));
  policy.sockets = 1;
  EXPECT_FALSE(CheckPolicy(policy));
  policy.network = NoNetwork{};
  EXPECT_TRUE(CheckPolicy(policy));
  policy.sockets = kMaxSockets + 1;
  EXPECT_FALSE(CheckPolicy(policy));
}

/// The error of MakePlan's last check for a payload of this size; none when it fits.
template <class Change>
Result<void> Room(Change change, std::size_t size) {
  Payload payload;
  change(payload, size);
  return CheckRoom(payload);
}

TEST(CheckPolicyTest, RawSocketsAreOfADeviceAndHaveAFilterOfTheirOwn) {
  Policy policy = Usable();
  policy.network =
      ConnectedNetwork{.tier = "internet", .device = Device{.carrier = "p"}, .raw_sockets = true};
  EXPECT_TRUE(CheckPolicy(policy));
  EXPECT_EQ(MakePayload(policy, {}).seccomp, Seccomp::kRawSockets);
  policy.seccomp = Seccomp::kDebug;
  EXPECT_FALSE(CheckPolicy(policy));
  policy.seccomp = Seccomp::kDefault;
  std::get<ConnectedNetwork>(policy.network).device.reset();
  EXPECT_FALSE(CheckPolicy(policy)) << "no edge, no right";
  policy.network = NoNetwork{};
  policy.seccomp = Seccomp::kRawSockets;
  EXPECT_FALSE(CheckPolicy(policy)) << "not by itself";
}

TEST(CheckRoomTest, FullTablesFitAndOneMoreIsRefusedWithAnAction) {
  const auto paths = [](Payload& p, std::size_t n) { p.paths.resize(n); };
  const auto argv = [](Payload& p, std::size_t n) { p.argv.resize(n); };
  const auto env = [](Payload& p, std::size_t n) { p.env.resize(n); };
  const auto limits = [](Payload& p, std::size_t n) { p.limits.resize(n); };
  const auto descriptors = [](Payload& p, std::size_t n) {
    p.extra_descriptors = static_cast<std::uint32_t>(n);
  };
  const auto check = [](auto change, std::size_t most, const char* what) {
    EXPECT_TRUE(Room(change, most)) << what;
    const auto refused = Room(change, most + 1);
    ASSERT_FALSE(refused) << what;
    EXPECT_EQ(refused.error().code, Errc::kExhausted);
    EXPECT_THAT(refused.error().what, AllOf(HasSubstr(what), HasSubstr(std::to_string(most))));
    EXPECT_NE(refused.error().hint, "");
  };
  check(paths, 1024, "places");
  check(argv, 65536, "arguments");
  check(env, 65536, "variables");
  check(descriptors, 8, "descriptors");
  check(limits, 32, "limits");
}

TEST(CheckRoomTest, PlanningAsksForIt) {
  Policy policy = Usable();
  policy.extra_descriptors = 9;
  EXPECT_EQ(MakePlan(policy, {}).error().code, Errc::kExhausted);
  policy = Usable();
  // The root has a rule of its own.
  for (std::size_t i = 1; i < kMaxPathRules; ++i) {
    policy.run.emplace_back(MemoryTree{.target = "/" + std::to_string(i)});
  }
  EXPECT_TRUE(MakePlan(policy, {}));
  policy.run.emplace_back(MemoryTree{.target = "/one-more"});
  EXPECT_EQ(MakePlan(policy, {}).error().code, Errc::kExhausted);
}

}  // namespace
}  // namespace igloo::sandbox
