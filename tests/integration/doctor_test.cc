// The doctor tries every wall of every backend and believes nothing that it did not see.

#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json.hpp>

#include "cgroup/groups.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
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
  for (const std::string backend : {"jail: ", "prepared: ", "bubblewrap: "}) {
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
