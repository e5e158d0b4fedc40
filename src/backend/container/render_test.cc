#include "backend/container/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::backend::container {
namespace {

namespace step = sandbox::step;
using sandbox::Plan;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kNetworkWord = "--private-network";

Command CommandOf(const Plan& plan) {
  auto command = Render(plan, {.machine = "igloo-1", .first_id = 0x50010000});
  EXPECT_TRUE(command) << command.error().what;
  return command ? *std::move(command) : Command{};
}

TEST(ContainerRenderTest, APlanIsExactlyThisCommand) {
  EXPECT_THAT(CommandOf({}).argv,
              ElementsAre("/usr/bin/systemd-nspawn", "--quiet", "--settings=no", "--register=no",
                          "--keep-unit", "--machine=igloo-1", "--directory=/run/root",
                          "--private-users=1342242816:65536", "--private-users-ownership=off",
                          "--no-new-privileges=yes",
                          "--system-call-filter=@keyring landlock_create_ruleset landlock_add_rule "
                          "landlock_restrict_self",
                          "--console=pipe", "--link-journal=no", "--resolv-conf=off",
                          "--timezone=off", kNetworkWord, "--", "/igloo-container"));
}

TEST(ContainerRenderTest, TheHostsNetworkComesOnlyFromAPlanThatNamesIt) {
  EXPECT_THAT(CommandOf({}).argv, Contains(kNetworkWord));
  EXPECT_THAT(CommandOf({.network = sandbox::ConnectedNetwork{}}).argv, Contains(kNetworkWord));
  EXPECT_THAT(CommandOf({.network = sandbox::HostNetwork("a test")}).argv,
              Not(Contains(kNetworkWord)));
}

TEST(ContainerRenderTest, NobodyIsRootInside) {
  for (const sandbox::Identity& each :
       {sandbox::Identity{.uid = 0}, sandbox::Identity{.gid = 0}, sandbox::Identity{.uid = 65536},
        sandbox::Identity{.gid = 70000}}) {
    const auto refused = Render({.identity = each}, {.machine = "igloo-1", .first_id = 65536});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
    EXPECT_THAT(refused.error().hint, HasSubstr("from 1 to 65535"));
  }
}

TEST(ContainerRenderTest, WordsOfAPlanNeverBecomeOptions) {
  const Plan plan{.environment = {step::Symlink{"/l", "--bind=/:/"}},
                  .run = {step::Hostname{"--boot"}, step::Bind{"--bind", "/x"}}};
  EXPECT_EQ(CommandOf(plan), CommandOf({}));
}

TEST(ContainerToShellTest, ShowsTheCommandAndWhatIsDoneInside) {
  const Plan plan{.environment = {step::Bind{"/usr", "/usr"}, step::Directory{"/a\nb"}},
                  .run = {step::StartInit{}}};
  const std::string shown = ToShell(CommandOf(plan), plan);
  EXPECT_THAT(shown, HasSubstr("\nSYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 "));
  EXPECT_THAT(shown, HasSubstr("/usr/bin/systemd-nspawn \\\n  --quiet \\\n"));
  EXPECT_THAT(shown, HasSubstr("#   read-only  /usr <- /usr\n"));
  EXPECT_THAT(shown, HasSubstr("#   start igloo-init\n"));
  EXPECT_THAT(shown, HasSubstr("/a?b")) << "no line of a plan leaves its comment";
}

}  // namespace
}  // namespace igloo::backend::container
