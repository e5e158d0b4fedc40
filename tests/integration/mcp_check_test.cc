// `igloo mcp check`: the server is tried as a client would use it.

#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "support/configured.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace json = boost::json;

class McpCheck : public Configured {
 protected:
  /// The steps that were done, those that failed with a "!".
  static std::vector<std::string> Steps(const std::string& document) {
    std::vector<std::string> names;
    const json::value parsed = json::parse(document);
    for (const json::value& each : parsed.at("steps").as_array()) {
      EXPECT_GE(each.at("ms").to_number<double>(), 0);
      names.push_back((each.at("ok").as_bool() ? "" : "!") +
                      std::string(each.at("name").as_string()));
    }
    return names;
  }
};

TEST_F(McpCheck, GoesThroughEveryStep) {
  const Outcome outcome = Run({"mcp", "check"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 4);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("ok     server/discover"), HasSubstr("tools/list"),
                                 HasSubstr("run in '"), HasSubstr(" ms ")));
  EXPECT_THAT(Read(".local/state/igloo/runs.jsonl"), HasSubstr("igloo mcp check"))
      << "control: there was a run";
}

TEST_F(McpCheck, SaysTheSameToPrograms) {
  const Outcome outcome = Run({"mcp", "check", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("works"), true);
  EXPECT_THAT(Steps(outcome.out),
              ElementsAre("start", "server/discover", "tools/list", "tools/call"));
}

TEST_F(McpCheck, TakesTheConfigurationAndTheProjectOfTheServer) {
  const std::string config = Write("c.toml", "[daemon]\ntools = 'per-environment'\n");
  const Outcome each = Run({"mcp", "check", "--config", config});
  EXPECT_EQ(each.status, 0) << each.out;
  EXPECT_THAT(each.out, HasSubstr("shell in 'shell'"));
  std::filesystem::create_directory(Path("project"));
  EXPECT_EQ(Run({"mcp", "check", "--project", Path("project")}).status, 0);
}

TEST_F(McpCheck, WhatDoesNotWorkIsNamedWithItsFix) {
  const std::string broken = Write("broken.toml", "[daemon]\ntols = 'run'\n");
  const Outcome outcome = Run({"mcp", "check", "--config", broken});
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("FAILED tools/call"), HasSubstr("'tols'"),
                                 HasSubstr("fix: "), HasSubstr("did you mean 'tools'?")));
  const Outcome document = Run({"mcp", "check", "--config", broken, "--json"});
  EXPECT_EQ(document.status, 1);
  EXPECT_EQ(json::parse(document.out).at("works"), false);
  EXPECT_THAT(Steps(document.out),
              ElementsAre("start", "server/discover", "tools/list", "!tools/call"));
}

TEST_F(McpCheck, RefusesWhatIsNotForIt) {
  for (const char* flag : {"--http=127.0.0.1:0", "--remove", "--name=x", "--scope=user"}) {
    const Outcome outcome = Run({"mcp", "check", flag});
    EXPECT_EQ(outcome.status, 125) << flag;
    EXPECT_THAT(outcome.err, HasSubstr("'igloo mcp check' has no --")) << flag;
  }
  EXPECT_EQ(Run({"mcp", "check", "claude-code"}).status, 125);
  EXPECT_EQ(Run({"mcp", "check", "--tools", "bogus"}).status, 125);
}

}  // namespace
}  // namespace igloo::testing
