// The doctor tries every wall of every backend and believes nothing that it did not see.

#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json.hpp>

#include "cgroup/groups.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
namespace json = boost::json;

TEST(Doctor, FindsEveryWallOfEveryBackendStanding) {
  const Outcome outcome = Igloo({"doctor", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json::value document = json::parse(outcome.out);
  EXPECT_EQ(document.at("usable"), true);
  std::vector<std::string> good;
  for (const json::value& each : document.at("findings").as_array()) {
    if (each.at("state") == "ok") good.emplace_back(each.at("name").as_string());
  }
  std::vector<std::string> backends = {"prepared: "};
  for (const char* wall : OfferedWalls()) backends.push_back(std::string(wall) + ": ");
  for (const std::string& backend : backends) {
    for (const char* wall : {"namespaces", "identity", "capabilities", "seccomp", "network",
                             "processes", "variables", "host files", "limits"}) {
      EXPECT_THAT(good, Contains(backend + wall)) << outcome.out;
    }
  }
  EXPECT_THAT(good, Contains("read-only project")) << outcome.out;
  EXPECT_THAT(good, Contains("user namespaces")) << outcome.out;
  EXPECT_THAT(good, Contains("MCP server")) << outcome.out;
  // Whether there are any is up to the machine; which, it says.
  const bool counted = cgroup::Find().kind != cgroup::Kind::kNone;
  EXPECT_EQ(std::ranges::count(good, "cgroups") == 1, counted) << outcome.out;
  for (const char* extra : {"KVM", "Nix", "systemd-nspawn", "QEMU", "tmux"}) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string(R"("name":")") + extra));
  }
  EXPECT_THAT(good, Contains("overlay project")) << outcome.out;
}

TEST(Doctor, BeginsWithTheLimitsThatAreWeakerAndSoDoesAServersLog) {
  const cgroup::Kind kind = cgroup::Find().kind;
  const std::string doctor = Igloo({"doctor"}).out;
  const std::string first = doctor.substr(0, doctor.find('\n'));
  // The server ends with its client, which says nothing here.
  const std::string log = Igloo({"mcp"}).err;
  const std::string said = log.substr(0, log.find('\n'));
  if (kind == cgroup::Kind::kV2) {
    EXPECT_THAT(first, Not(HasSubstr("weaker limits")));
    EXPECT_THAT(said, Not(HasSubstr("weaker limits")));
    return;
  }
  const std::string how = kind == cgroup::Kind::kV1
                              ? "this is version 1"
                              : "adds up what all processes use of memory, only ten times";
  EXPECT_THAT(first, AllOf(HasSubstr("weaker limits"), HasSubstr(how),
                           HasSubstr("processes are counted for ")));
  EXPECT_THAT(said, AllOf(HasSubstr("weaker limits"), HasSubstr(how),
                          HasSubstr("processes are counted for ")));
  // Started by a user, sandboxes share that user's counters.
  EXPECT_EQ(doctor.find("weaker user id") != std::string::npos, !RunningAsRoot());
  EXPECT_EQ(log.find("weaker user id") != std::string::npos, !RunningAsRoot());
}

TEST(Doctor, TakesNoWords) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"doctor", "x"}, {"doctor", "--", "x"}}) {
    const Outcome outcome = Igloo(args);
    EXPECT_EQ(outcome.status, 125);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("'igloo doctor' takes no words"));
  }
}

}  // namespace
}  // namespace igloo::testing
