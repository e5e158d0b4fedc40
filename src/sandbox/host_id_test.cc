#include <gtest/gtest.h>

#include "sandbox/plan.h"

namespace igloo::sandbox {
namespace {

PathFact OwnedBy(std::uint32_t uid) { return {.device = 1, .inode = 2, .uid = uid, .gid = uid}; }

std::string WithEnvironment(Step step) {
  Plan plan;
  plan.environment.push_back(std::move(step));
  return NeedsStartersId(plan);
}

TEST(NeedsStartersId, NotForWhatIsRootsOrInMemory) {
  EXPECT_EQ(NeedsStartersId({}), "");
  EXPECT_EQ(WithEnvironment(step::Bind{.source = "/usr", .target = "/usr", .fact = OwnedBy(0)}),
            "");
  EXPECT_EQ(WithEnvironment(step::Base{.source = "/nix/store", .fact = OwnedBy(0)}), "");
  EXPECT_EQ(WithEnvironment(step::FromBase{.path = "a", .target = "/a", .fact = OwnedBy(0)}), "");
  EXPECT_EQ(WithEnvironment(step::Tmpfs{.target = "/tmp"}), "");
  EXPECT_EQ(WithEnvironment(step::Copy{.source = "/home/a", .target = "/a", .fact = OwnedBy(7)}),
            "");
  EXPECT_EQ(
      WithEnvironment(step::Bind{
          .source = "/dev/null", .target = "/dev/null", .fact = OwnedBy(65534), .device = true}),
      "");
}

TEST(NeedsStartersId, ForEverythingThatMayBeOneUsersAlone) {
  const auto says = [](const std::string& why, const char* path) {
    return why.find(path) != std::string::npos;
  };
  EXPECT_TRUE(says(
      WithEnvironment(step::Bind{.source = "/home/a/image", .target = "/opt", .fact = OwnedBy(7)}),
      "/home/a/image"));
  EXPECT_TRUE(says(WithEnvironment(step::Overlay{.source = "/home/a/rootfs",
                                                 .target = "/opt",
                                                 .fact = OwnedBy(7),
                                                 .access = Access::kReadOnly,
                                                 .map_owner = false}),
                   "/home/a/rootfs"));
  EXPECT_TRUE(says(WithEnvironment(step::Base{.source = "/store", .fact = OwnedBy(7)}), "/store"));
  EXPECT_TRUE(says(WithEnvironment(step::FromBase{.path = "b", .target = "/b", .fact = OwnedBy(7)}),
                   "'b'"));
}

TEST(NeedsStartersId, ForProjectsWhoeverOwnsThem) {
  Plan plan;
  plan.run.push_back(
      step::Bind{.source = "/p", .target = "/project", .fact = OwnedBy(0), .map_owner = true});
  EXPECT_NE(NeedsStartersId(plan), "");
  plan.run.clear();
  plan.run.push_back(step::Overlay{.source = "/p", .target = "/project", .fact = OwnedBy(0)});
  EXPECT_NE(NeedsStartersId(plan), "");
}

TEST(NeedsStartersId, ForWhatIsNotMadeFromATemplate) {
  Plan plan;
  plan.network = HostNetwork("a test");
  EXPECT_NE(NeedsStartersId(plan), "");
  plan.network = ConnectedNetwork{.tier = "internet", .device = Device{.carrier = "pasta"}};
  EXPECT_NE(NeedsStartersId(plan), "");
  plan.network = ConnectedNetwork{.tier = "allow"};
  EXPECT_EQ(NeedsStartersId(plan), "");
}

}  // namespace
}  // namespace igloo::sandbox
