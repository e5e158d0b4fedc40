#include "sandbox/nodes.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "sandbox/testing.h"

namespace igloo::sandbox {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr PathFact kSocket{.device = 1, .inode = 9, .type = S_IFSOCK, .uid = 7, .gid = 8};
constexpr PathFact kDevice{.device = 6, .inode = 9, .type = S_IFCHR};

HostNode AgentSocket() { return {"/host/agent", "/run/agent", "it signs"}; }
HostNode RenderNode() { return {"/dev/dri/renderD128", "/dev/dri/renderD128", "it draws"}; }

Result<Plan> PlanWith(std::vector<Entry> run) {
  HostFacts facts = testing::Facts();
  facts["/host/agent"] = kSocket;
  facts["/dev/dri/renderD128"] = kDevice;
  return MakePlan(testing::PolicyWith({}, std::move(run)), facts);
}

TEST(HostNode, ASocketIsMountedReadOnlyAsTheFileItIs) {
  const auto plan = PlanWith({AgentSocket()});
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_THAT(plan->run, Contains(Step{step::Bind{.source = "/host/agent",
                                                  .target = "/run/agent",
                                                  .fact = kSocket,
                                                  .granted = "it signs"}}));
  EXPECT_THAT(plan->payload.paths, Not(Contains(PathRule{PathRight::kReadWrite, "/run/agent"})));
}

TEST(HostNode, ADeviceIsMountedAsOneAndMayBeUsed) {
  const auto plan = PlanWith({RenderNode()});
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_THAT(plan->run, Contains(Step{step::Bind{.source = "/dev/dri/renderD128",
                                                  .target = "/dev/dri/renderD128",
                                                  .access = Access::kReadWrite,
                                                  .fact = kDevice,
                                                  .device = true,
                                                  .granted = "it draws"}}));
  EXPECT_THAT(plan->payload.paths, Contains(PathRule{PathRight::kDevice, "/dev"}));
}

TEST(HostNode, EveryPlanWarnsOfIt) {
  const auto plan = PlanWith({AgentSocket(), RenderNode()});
  ASSERT_TRUE(plan);
  const std::string text = Describe(*plan);
  EXPECT_THAT(text, HasSubstr("WARNING: code in this sandbox may use the host's socket "
                              "'/host/agent': it signs"));
  EXPECT_THAT(text, HasSubstr("WARNING: code in this sandbox may use the host's device "
                              "'/dev/dri/renderD128': it draws"));
  EXPECT_THAT(ToJson(*plan), HasSubstr("it signs"));
  EXPECT_THAT(Describe(*PlanWith({})), Not(HasSubstr("WARNING")));
}

TEST(HostNode, NeedsAReason) {
  const auto plan = PlanWith({HostNode("/host/agent", "/run/agent", "")});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().what, HasSubstr("without a reason"));
}

TEST(HostNode, IsASocketOrACharacterDevice) {
  for (const PathFact& fact : {testing::kDirectory, testing::kRegular, PathFact{.type = S_IFBLK},
                               PathFact{.type = S_IFIFO}}) {
    EXPECT_FALSE(BindOfNode(AgentSocket(), fact));
  }
}

TEST(HostNode, OnlyDevicesAreBelowDev) {
  EXPECT_FALSE(BindOfNode(HostNode("/host/agent", "/dev/agent", "x"), kSocket));
  EXPECT_FALSE(BindOfNode(HostNode("/dev/sda", "/run/sda", "x"), kDevice));
}

TEST(HostNode, OneThatIsNotThereIsAnError) {
  HostFacts facts = testing::Facts();
  facts["/host/agent"] = std::nullopt;
  EXPECT_FALSE(MakePlan(testing::PolicyWith({}, {AgentSocket()}), facts));
}

}  // namespace
}  // namespace igloo::sandbox
