#include "cli/doctor/wall_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"

namespace igloo::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using State = Finding::State;

constexpr std::string_view kWhole =
    "CapInh 0000000000000000\nCapPrm 0000000000000000\nCapEff 0000000000000000\n"
    "CapBnd 0000000000000000\nCapAmb 0000000000000000\nNoNewPrivs 1\nSeccomp 2\n"
    "ns-user user:[1]\nns-mnt mnt:[1]\nns-pid pid:[1]\nns-net net:[1]\nns-ipc ipc:[1]\n"
    "ns-uts uts:[1]\nns-cgroup cgroup:[1]\ninterfaces 1\nprocesses 2\nproc own\ndescriptors 3\n"
    "secret hidden\nusr read-only\nroot read-only\nsys read-only\ntmp writable\n"
    "variables clean\nnested refused\nshm bounded\n";

Seen Whole() {
  return {.inside = std::string(kWhole),
          .uid_map = "1000 70000 1",
          .caller = 0,
          .first_free_id = 65536,
          .landlock_abi = 3};
}

std::vector<std::string> Troubles(const Seen& seen) {
  std::vector<std::string> names;
  for (const Finding& each : CheckWalls("x: ", seen, true)) {
    if (each.state != State::kGood) names.push_back(each.name);
  }
  return names;
}

TEST(WallChecksTest, AWholeWallIsGood) { EXPECT_THAT(Troubles(Whole()), IsEmpty()); }

TEST(WallChecksTest, EveryLineThatIsWrongOrMissingIsFound) {
  for (std::size_t at = 0; at < kWhole.size();) {
    const std::size_t end = kWhole.find('\n', at);
    const std::string line(kWhole.substr(at, end - at));
    Seen wrong = Whole();
    wrong.inside.replace(wrong.inside.find(line), line.size(),
                         line.substr(0, line.find(' ')) + " 9");
    EXPECT_EQ(Troubles(wrong).size(), 1U) << line;
    Seen missing = Whole();
    missing.inside.erase(missing.inside.find(line), line.size() + 1);
    EXPECT_EQ(Troubles(missing).size(), 1U) << line;
    at = end + 1;
  }
}

TEST(WallChecksTest, AKernelOfItsOwnIsSeenByItsId) {
  Seen seen = Whole();
  seen.own_kernel = true;
  seen.uid_map = "";
  EXPECT_THAT(Troubles(seen), ElementsAre("x: kernel")) << "it did not say";
  seen.inside += "boot " + ReadFile("/proc/sys/kernel/random/boot_id", 64).value_or("") + "\n";
  EXPECT_THAT(Troubles(seen), ElementsAre("x: kernel")) << "the host's";
  seen.inside += "boot 00000000-0000-4000-8000-000000000000\n";
  EXPECT_THAT(Troubles(seen), IsEmpty()) << "another one's, and nobody asks for its namespaces";
}

TEST(WallChecksTest, ANamespaceOfTheHostsIsNamed) {
  Seen seen = Whole();
  const std::string line = "ns-net net:[1]";
  seen.inside.replace(seen.inside.find(line), line.size(),
                      "ns-net " + ReadLink("/proc/self/ns/net").value());
  const Finding finding = CheckWalls("", seen, true).front();
  EXPECT_EQ(finding.state, State::kBroken);
  EXPECT_EQ(finding.detail, "shared with the host: net");
}

TEST(WallChecksTest, RootsSandboxMustBeNobodyOutside) {
  for (const char* map : {"1000 0 1", "1000 1000 1", "0 70000 1", "1000 70000 2", "1000 70000",
                          "1000 70000 1 1001 70001 1", "x"}) {
    Seen seen = Whole();
    seen.uid_map = map;
    EXPECT_THAT(Troubles(seen), ElementsAre("x: identity")) << map;
  }
}

TEST(WallChecksTest, AUsersSandboxMustBeThatUserOutside) {
  Seen seen = Whole();
  seen.caller = 12345;
  EXPECT_THAT(Troubles(seen), ElementsAre("x: identity"));
  seen.uid_map = "1000 12345 1";
  EXPECT_THAT(Troubles(seen), IsEmpty());
}

TEST(WallChecksTest, AnUnseenIdentityIsNoGoodNewsForRoot) {
  Seen seen = Whole();
  seen.uid_map = "";
  const auto findings = CheckWalls("", seen, true);
  const auto found = std::ranges::find(findings, "identity", &Finding::name);
  ASSERT_NE(found, findings.end());
  EXPECT_EQ(found->state, State::kMissing);
  EXPECT_TRUE(found->required);
  EXPECT_THAT(found->detail, HasSubstr("outside"));
}

TEST(WallChecksTest, AMachineWithoutLandlockIsUsable) {
  Seen seen = Whole();
  seen.landlock_abi = 0;
  const Finding last = CheckWalls("", seen, true).back();
  EXPECT_EQ(last.state, State::kMissing);
  EXPECT_FALSE(last.required);
}

}  // namespace
}  // namespace igloo::cli
