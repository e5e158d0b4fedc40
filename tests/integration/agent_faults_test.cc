// What may happen to a box, its terminal and its project: nothing of the user's is lost or half
// written.

#include <gmock/gmock.h>
#include <signal.h>

#include "base/text.h"
#include "support/agent_box.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AgentFaults : public AgentBox {
 protected:
  AgentFaults() {
    fs::create_directories(Path("home/.local/bin"));
    Write("home/.claude.json", R"({"numStartups": 1})");
  }
  /// A program called 'claude' that changes its own settings, then `end`.
  Invocation Claude(const std::string& end) const {
    Write("home/.local/bin/claude",
          "#!/bin/bash\necho '{\"numStartups\": 2}' > ~/.claude.json\necho rea''dy\n" + end + "\n");
    fs::permissions(Path("home/.local/bin/claude"), fs::perms(0755));
    Invocation invocation = Agent({"claude", "--yes", "--network", "none", "--name", "one"});
    std::erase_if(invocation.env, [](const auto& each) { return each.starts_with("PATH="); });
    invocation.env.push_back("PATH=" + home() + "/.local/bin:/usr/bin:/bin");
    return invocation;
  }
  bool IsBroughtBack() const { return Read("home/.claude.json") == R"({"numStartups": 2})"; }
  /// Nothing waits to be brought back.
  bool IsFinished() const { return fs::is_empty(home() + "/.local/state/igloo/agents/boxes"); }
};

TEST_F(AgentFaults, WhenTheTerminalVanishesTheBoxEndsAndItsChangesAreBroughtBack) {
  Terminal box = AtTerminal(Claude("sleep 1000"));
  ASSERT_TRUE(box.WaitForOutput("ready")) << box.output();
  EXPECT_FALSE(IsBroughtBack()) << "control: not before its end";
  box.HangUp();
  EXPECT_NE(box.WaitForEnd(), -1);
  EXPECT_TRUE(IsBroughtBack()) << Read("home/.claude.json");
  EXPECT_TRUE(IsFinished());
}

TEST_F(AgentFaults, ToldOfItsEndManyTimesItFinishesAllTheSame) {
  // A shell and the kernel both tell a job that its terminal is gone, and in no order.
  Terminal box = AtTerminal(Claude("trap '' HUP TERM; sleep 1000"));
  ASSERT_TRUE(box.WaitForOutput("ready")) << box.output();
  box.HangUp();
  for (int i = 0; i < 200; ++i) {
    box.Signal(SIGHUP);
    box.Signal(SIGTERM);
  }
  while (!IsGone(box.pid())) {
    box.Signal(SIGHUP);
    box.Signal(SIGTERM);
  }
  EXPECT_LT(box.WaitForEnd(), 256);
  EXPECT_TRUE(IsBroughtBack()) << Read("home/.claude.json");
  EXPECT_TRUE(IsFinished());
}

TEST_F(AgentFaults, WhenIglooIsKilledTheNextBoxFinishesAndSoDoesCollecting) {
  for (const bool collects : {false, true}) {
    Write("home/.claude.json", R"({"numStartups": 1})");
    {
      Running box(Claude("sleep 1000"));
      ASSERT_TRUE(box.WaitForOutput("ready")) << box.errors();
      box.Signal(SIGKILL);
      box.Finish();
    }
    EXPECT_FALSE(IsBroughtBack()) << "control: nobody did it yet";
    const Outcome next = RunProgram(collects ? Agent({"gc"}) : Claude("exit 0"));
    EXPECT_EQ(next.status, 0) << next.err;
    EXPECT_TRUE(IsBroughtBack()) << Read("home/.claude.json");
    EXPECT_TRUE(IsFinished());
  }
}

TEST_F(AgentFaults, AProjectThatIsMovedMeanwhileTakesItsFilesAlong) {
  const std::string moved = Path("home/code/moved");
  Running box(
      Claude("echo one > before; read x; echo two > after; git add -A; "
             "git commit -qm inside; git status --porcelain; exit 0"));
  ASSERT_TRUE(box.WaitForOutput("ready")) << box.errors();
  ASSERT_TRUE(WaitFor([&] { return fs::exists(project() + "/before"); }));
  fs::rename(project(), moved);
  box.Write("\n");
  const Outcome outcome = box.Finish();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(project())) << "nothing is made where it was";
  EXPECT_EQ(Read("home/code/moved/before"), "one\n");
  EXPECT_EQ(Read("home/code/moved/after"), "two\n");
  EXPECT_THAT(Git({"log", "--oneline"}, moved).out, HasSubstr("inside"));
  EXPECT_EQ(Git({"fsck", "--strict"}, moved).status, 0);
  EXPECT_TRUE(IsBroughtBack());
}

TEST_F(AgentFaults, OnAFileSystemThatIsReadOnlyNothingIsWrittenAndTheEndIsAUsualOne) {
  Invocation box =
      Claude("echo x > new && echo written; echo x >> file && echo written; cat file; exit 4");
  // In mounts of its own: the file system of the project becomes read-only, then igloo starts.
  std::vector<std::string> words = {"--mount"};
  if (!RunningAsRoot()) words.insert(words.end(), {"--user", "--map-current-user", "--keep-caps"});
  words.insert(words.end(),
               {"/bin/sh", "-c",
                "P=$1; shift; mkdir $P.copy && cp -a $P/. $P.copy && mount -t tmpfs none $P && "
                "cp -a $P.copy/. $P && mount -o remount,ro $P && exec setpriv --inh-caps=-all "
                "--ambient-caps=-all \"$@\"",
                "sh", project(), box.program});
  words.insert(words.end(), box.args.begin(), box.args.end());
  const Outcome outcome =
      RunProgram({.program = "/usr/bin/unshare", .args = words, .env = box.env});
  EXPECT_EQ(outcome.status, 4) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("old\n"), Not(HasSubstr("written"))));
  EXPECT_THAT(outcome.err, HasSubstr("Read-only file system"));
  EXPECT_TRUE(IsBroughtBack());
}

TEST_F(AgentFaults, AProjectThatIsShownReadOnlyStaysSo) {
  Invocation box = Claude("echo x >> file && echo written; cat file; exit 4");
  std::vector<std::string> words = {"--mount"};
  if (!RunningAsRoot()) words.insert(words.end(), {"--user", "--map-current-user", "--keep-caps"});
  words.insert(words.end(),
               {"/bin/sh", "-c",
                "P=$1; shift; mount --bind $P $P && mount -o remount,bind,ro $P && exec setpriv "
                "--inh-caps=-all --ambient-caps=-all \"$@\"",
                "sh", project(), box.program});
  words.insert(words.end(), box.args.begin(), box.args.end());
  const Outcome outcome =
      RunProgram({.program = "/usr/bin/unshare", .args = words, .env = box.env});
  EXPECT_EQ(outcome.status, 4) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("old\n"), Not(HasSubstr("written"))));
  EXPECT_EQ(Read("home/code/project/file"), "old\n");
}

}  // namespace
}  // namespace igloo::testing
