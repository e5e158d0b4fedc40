// 'igloo net' as people type it: the log of decisions, and rules for sandboxes that live in
// servers.

#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "audit/network_log.h"
#include "support/configured.h"
#include "support/mcp.h"
#include "support/running.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using network::Record;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class NetCli : public Configured {
 protected:
  std::string State() const { return Path(".local/state/igloo"); }
  void Log(const Record& record) const {
    audit::NetworkLog({.directory = State()}, [](const Error& error) {
      ADD_FAILURE() << error.what;
    }).Add(record);
  }
  /// 2026-11-15T11:00:00Z and a minute for each.
  static Record Decision(int number, Record::Event event, std::string sandbox) {
    return {.event = event,
            .sandbox = std::move(sandbox),
            .time_ms = (29'912'340LL + number) * 60'000,
            .host = "h" + std::to_string(number) + ".example",
            .port = 443,
            .refusal = event == Record::Event::kRefused ? "no rule allows it" : "",
            .remedy = "h" + std::to_string(number) + ".example"};
  }
  Outcome Net(std::vector<std::string> args) const {
    args.insert(args.begin(), "net");
    return Run(std::move(args), {"TZ=UTC0"});
  }
  static long Lines(std::string_view text) { return std::ranges::count(text, '\n'); }
};

TEST_F(NetCli, SaysThatThereIsNoLogYetAndMakesNone) {
  const Outcome outcome = Net({"log"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("there is no log of the network yet"));
  EXPECT_FALSE(fs::exists(State()));
}

TEST_F(NetCli, ShowsAndFiltersDecisions) {
  for (int i = 0; i < 30; ++i) {
    Log(Decision(i, i % 3 == 0 ? Record::Event::kRefused : Record::Event::kEnded,
                 i % 2 == 0 ? "data" : "web"));
  }
  const Outcome last = Net({"log"});
  EXPECT_EQ(last.status, 0) << last.err;
  EXPECT_EQ(Lines(last.out), 20);
  EXPECT_THAT(last.out, StartsWith("2026-11-15 11:10:00  ended    data            connect  "
                                   "h10.example:443"));
  EXPECT_EQ(Lines(Net({"log", "--limit", "100"}).out), 30);
  EXPECT_EQ(Lines(Net({"log", "--limit", "100", "--refused"}).out), 10);
  const Outcome both = Net({"log", "--refused", "--sandbox", "data", "--limit", "100"});
  EXPECT_EQ(Lines(both.out), 5);
  EXPECT_THAT(both.out, Not(HasSubstr("  web  ")));
  EXPECT_THAT(both.out, EndsWith("no rule allows it; allowed by: h24.example\n"));
  EXPECT_EQ(Lines(Net({"log", "--since", "2026-11-15T11:28:00Z"}).out), 2);
  EXPECT_THAT(Net({"log", "--sandbox", "other"}).err,
              HasSubstr("no decision in the log is as asked for"));
  EXPECT_EQ(Net({"log", "--json", "--limit", "1"}).out,
            audit::EncodeDecision(Decision(29, Record::Event::kEnded, "web")));
  EXPECT_EQ(Run({"log"}).out, "") << "the log of calls is another one";
}

TEST_F(NetCli, BrokenLinesAreNamedAndTheRestIsShown) {
  Log(Decision(0, Record::Event::kRefused, "data"));
  std::ofstream(audit::JournalFile(State(), 0, audit::kNetworkFile), std::ios::app)
      << "\x1b[2J\n{}\n";
  const Outcome outcome = Net({"log"});
  EXPECT_EQ(Lines(outcome.out), 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("2 lines of the log are no records, ignoring"),
                                 Not(HasSubstr("\x1b"))));
}

TEST_F(NetCli, FollowsWhatIsDecided) {
  Log(Decision(0, Record::Event::kRefused, "data"));
  Running following({.program = BinDirectory() + "/igloo",
                     .args = {"net", "log", "--follow", "--refused"},
                     .env = {"PATH=/usr/bin:/bin", "HOME=" + Path(""), "TZ=UTC0"}});
  ASSERT_TRUE(following.WaitForOutput("h0.example"));
  Log(Decision(1, Record::Event::kEnded, "data"));
  Log(Decision(2, Record::Event::kRefused, "data"));
  ASSERT_TRUE(following.WaitForOutput("h2.example"));
  following.Signal(SIGINT);
  EXPECT_THAT(following.Finish().out, Not(HasSubstr("h1.example")));
}

TEST_F(NetCli, ARuleNeedsASandboxThatLives) {
  const auto said = [&](std::vector<std::string> args) {
    args.insert(args.begin(), "allow");
    const Outcome outcome = Net(args);
    EXPECT_NE(outcome.status, 0) << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(said({"data"}), HasSubstr("needs a sandbox and a rule"));
  EXPECT_THAT(said({"data", "example.org/x"}), HasSubstr("example.org/x"));
  EXPECT_THAT(said({"data", "example.org", "--once", "--session"}), HasSubstr("contradict"));
  EXPECT_THAT(said({"data", "example.org"}), HasSubstr("there is no session 'data'"));
  EXPECT_THAT(Net({"alow", "x", "y"}).err, HasSubstr("did you mean 'allow'?"));
}

TEST_F(NetCli, ASessionWithoutANetworkStaysWithoutOne) {
  McpClient client(McpClient::Options{.env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize();
  client.Run("shell", "true", {{"session", "data"}});
  const Outcome outcome = Net({"allow", "data", "example.org"});
  EXPECT_NE(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("network"));
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace igloo::testing
