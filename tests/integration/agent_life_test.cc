// How boxes live: in terminals that outlive the caller's, paused, at their limits, and what is left
// of them.

#include <gmock/gmock.h>
#include <signal.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "cgroup/groups.h"
#include "support/agent_box.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDetach =
    "\x02"
    "d";

bool Counted() { return cgroup::Find().kind != cgroup::Kind::kNone; }

class AgentLife : public AgentBox {
 protected:
  void TearDown() override {
    // What a failed test left: nothing may outlive it.
    const Outcome list = RunProgram(Agent({"list", "--json"}));
    boost::system::error_code error;
    const auto document = boost::json::parse(list.out, error);
    if (error || !document.is_object()) return;
    for (const char* kind : {"boxes", "ended"}) {
      if (!document.as_object().contains(kind)) continue;
      for (const auto& each : document.at(kind).as_array()) {
        RunProgram(Agent({"stop", std::string(each.at("name").as_string())}));
      }
    }
  }

  /// The row of a box in the list; null: there is none.
  boost::json::value Row(const std::string& name, const char* kind = "boxes") const {
    const auto document = boost::json::parse(RunProgram(Agent({"list", "--json"})).out);
    if (!document.as_object().contains(kind)) return {};
    for (const auto& each : document.at(kind).as_array()) {
      if (std::string_view(each.at("name").as_string()) == name) return each;
    }
    return {};
  }
  bool Has(const std::string& name, const std::string& text) const {
    return boost::json::serialize(Row(name)).contains(text);
  }
  /// Waits in the project for a file that the test makes.
  static std::string Until(const std::string& file) {
    return "until [ -e " + file + " ]; do sleep 0.05; done; ";
  }
  /// Processor time of a process, in ticks.
  static std::string CpuTimeOf(pid_t pid) {
    const std::string stat = ReadProc("/proc/" + std::to_string(pid) + "/stat");
    std::size_t at = stat.rfind(')');
    for (int field = 0; field < 12; ++field) at = stat.find(' ', at + 1);
    return stat.substr(at, stat.find(' ', stat.find(' ', at + 1) + 1) - at);
  }
};

TEST_F(AgentLife, InATerminalOfItsOwnItsEndIsToldWithItsExitCode) {
  Terminal box = AtTerminal(Script("echo in''side; exit 7", {"--tmux"}));
  EXPECT_EQ(box.Finish(), 7) << box.output();
  EXPECT_THAT(box.output(), AllOf(HasSubstr("inside"), HasSubstr("has ended with exit code 7")));
  EXPECT_THAT(RunProgram(Agent({"list", "--json"})).out, Not(HasSubstr("ended")));
  EXPECT_TRUE(fs::is_empty(home() + "/.local/state/igloo/boxes"));
}

TEST_F(AgentLife, ADetachedBoxGoesOnAndIsAttachedAgain) {
  const Invocation start = Script("echo rea''dy; read x; echo got $x; exit 3", {"--tmux"});
  Terminal first = AtTerminal(start);
  ASSERT_TRUE(first.WaitForOutput("ready")) << first.output();
  first.Type(kDetach);
  EXPECT_EQ(first.Finish(), 0) << first.output();
  EXPECT_THAT(first.output(), HasSubstr("igloo agent attach bash-project"));
  EXPECT_THAT(RunProgram(Agent({"list"})).out, HasSubstr("igloo agent attach bash-project"));
  Terminal second = AtTerminal(Agent({"attach", "bash-project"}));
  ASSERT_TRUE(second.WaitForOutput("ready")) << second.output();
  second.Type("word\r");
  EXPECT_EQ(second.Finish(), 3) << second.output();
  EXPECT_THAT(second.output(), HasSubstr("got word"));
}

TEST_F(AgentLife, ItsTerminalOutlivesTheCallers) {
  Terminal first = AtTerminal(Script("echo rea''dy; read x; exit 3", {"--tmux", "--name", "one"}));
  ASSERT_TRUE(first.WaitForOutput("ready")) << first.output();
  first.HangUp();
  first.WaitForEnd();
  EXPECT_TRUE(Has("one", "\"state\":\"runs\""));
  Terminal second = AtTerminal(Agent({"attach", "one"}));
  ASSERT_TRUE(second.WaitForOutput("ready")) << second.output();
  second.Type("\r");
  EXPECT_EQ(second.Finish(), 3) << second.output();
}

TEST_F(AgentLife, ABoxInTheBackgroundKeepsItsLastWordsUntilSomebodySeesThem) {
  const Outcome start = RunProgram(
      Script(Until("go") + "echo last words; exit 5", {"--background", "--name", "one"}));
  EXPECT_EQ(start.status, 0) << start.err;
  EXPECT_THAT(start.out, HasSubstr("box 'one' runs in the background: igloo agent attach one"));
  Write("home/code/project/go", "");
  ASSERT_TRUE(WaitFor([&] { return Row("one", "ended").is_object(); }, 30));
  EXPECT_EQ(Row("one", "ended").at("exit"), 5);
  const Outcome taken = InBox("true", {"--name", "one"});
  EXPECT_EQ(taken.status, 125);
  EXPECT_THAT(taken.err, HasSubstr("there is a box 'one' already"));
  const Outcome seen = RunProgram(Agent({"attach", "one"}));
  EXPECT_EQ(seen.status, 5) << seen.err;
  EXPECT_THAT(seen.out, HasSubstr("last words"));
  EXPECT_EQ(InBox("exit 0", {"--name", "one"}).status, 0) << "the name is free again";
}

TEST_F(AgentLife, WhatCannotStartInTheBackgroundSaysWhy) {
  const Outcome none =
      RunProgram(Agent({"--cmd", "no-such-program", "--yes", "--background", "--network", "none"}));
  EXPECT_EQ(none.status, 127);
  EXPECT_THAT(none.err + none.out, HasSubstr("'no-such-program' is not on PATH"));
}

TEST_F(AgentLife, NothingOfTheUsersOwnTmuxCounts) {
  Write("home/.tmux.conf", "run-shell 'touch " + Path("touched") + "'\nset -g prefix C-a\n");
  Invocation start = Script("echo rea''dy; sleep 1000", {"--tmux", "--name", "one"});
  start.env.emplace_back("TMUX=/tmp/somebody-elses,1,0");
  Terminal box = AtTerminal(start);
  ASSERT_TRUE(box.WaitForOutput("ready")) << box.output();
  // A window of its own would have a shell of the host's.
  box.Type(
      "\x02"
      "c");
  box.Type(kDetach);
  EXPECT_EQ(box.Finish(), 0) << box.output();
  EXPECT_FALSE(fs::exists(Path("touched")));
  const Outcome windows =
      RunProgram({.program = "/usr/bin/tmux",
                  .args = {"-S", home() + "/.local/state/igloo/boxes/one.tmux", "list-windows"},
                  .env = Variables()});
  EXPECT_EQ(std::ranges::count(windows.out, '\n'), 1) << windows.out;
  const Outcome stop = RunProgram(Agent({"stop", "one"}));
  EXPECT_EQ(stop.status, 0) << stop.err;
  EXPECT_FALSE(fs::exists(home() + "/.local/state/igloo/boxes/one.tmux"));
}

TEST_F(AgentLife, WordsArriveInATerminalOfItsOwnAsTheyWere) {
  const std::string script = "printf '<%s>' \"$@\"; echo; " + Until("go");
  Invocation start = Script(script, {"--background", "--name", "one"});
  for (const char* each : {"zero", "a;", "b\\;", "c d", "#(touch x)", "'", "--tmux"}) {
    start.args.emplace_back(each);
  }
  EXPECT_EQ(RunProgram(start).status, 0);
  Write("home/code/project/go", "");
  ASSERT_TRUE(WaitFor([&] { return Row("one", "ended").is_object(); }, 30));
  EXPECT_THAT(RunProgram(Agent({"attach", "one"})).out,
              HasSubstr("<a;><b\\;><c d><#(touch x)><'><--tmux>"));
  EXPECT_FALSE(fs::exists(project() + "/x"));
}

TEST_F(AgentLife, WithoutTmuxItSaysWhatIsMissing) {
  fs::create_directories(Path("bin"));
  for (const char* each : {"bash", "git"}) {
    fs::create_symlink(std::string("/usr/bin/") + each, Path("bin/") + each);
  }
  Invocation start = Script("true", {"--background"});
  std::erase_if(start.env, [](const auto& each) { return each.starts_with("PATH="); });
  start.env.push_back("PATH=" + Path("bin"));
  const Outcome outcome = RunProgram(start);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("'tmux' on PATH"), HasSubstr("install the package 'tmux'")));
}

TEST_F(AgentLife, ABoxWithTheCallersTerminalCannotBeAttachedTo) {
  Running box(Script("echo up; sleep 1000", {"--name", "one"}));
  ASSERT_TRUE(box.WaitForOutput("up")) << box.errors();
  const Outcome attach = RunProgram(Agent({"attach", "one"}));
  EXPECT_EQ(attach.status, 125);
  EXPECT_THAT(attach.err, AllOf(HasSubstr("--tmux"), HasSubstr("igloo agent enter one")));
  EXPECT_THAT(RunProgram(Agent({"attach", "two"})).err, HasSubstr("there is no box 'two'"));
}

/// A box that is paused, or the reason why it cannot be.
class PausedBox : public AgentLife {
 protected:
  void SetUp() override {
    Invocation busy = Script("echo up; while :; do :; done", {"--name", "one"});
    busy.args.push_back(marker_);
    box_.emplace(busy);
    ASSERT_TRUE(box_->WaitForOutput("up")) << box_->errors();
    pid_ = WaitForMarked(marker_);
    ASSERT_NE(pid_, 0);
    paused_ = RunProgram(Agent({"pause", "one"}));
    if (Counted()) {
      ASSERT_EQ(paused_.status, 0) << paused_.err;
    }
  }
  /// Where nothing can be paused it is said, and the box goes on.
  bool IsRefused() const {
    if (Counted()) return false;
    EXPECT_EQ(paused_.status, 125);
    EXPECT_THAT(paused_.err, AllOf(HasSubstr("box 'one' cannot be paused"), HasSubstr("cgroup")));
    EXPECT_TRUE(Has("one", "\"state\":\"runs\""));
    return true;
  }
  bool UsesProcessors() const {
    const std::string before = CpuTimeOf(pid_);
    return WaitFor([&] { return CpuTimeOf(pid_) != before; });
  }

  std::string marker_ = UniqueMarker();
  std::optional<Running> box_ = {};
  pid_t pid_ = 0;
  Outcome paused_ = {};
};

TEST_F(PausedBox, UsesNoProcessorAndGoesOn) {
  if (IsRefused()) return;
  EXPECT_TRUE(Has("one", "\"state\":\"paused\""));
  EXPECT_THAT(RunProgram(Agent({"list"})).out, HasSubstr("paused"));
  const std::string before = CpuTimeOf(pid_);
  EXPECT_EQ(RunProgram(Agent({"pause", "one"})).status, 0) << "twice is fine";
  EXPECT_EQ(CpuTimeOf(pid_), before);
  const Outcome resumed = RunProgram(Agent({"resume", "one"}));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(RunProgram(Agent({"resume", "one"})).status, 0) << "twice is fine";
  EXPECT_TRUE(UsesProcessors());
  EXPECT_TRUE(Has("one", "\"state\":\"runs\""));
}

TEST_F(PausedBox, CannotBeEntered) {
  if (IsRefused()) return;
  Terminal shell = AtTerminal(Agent({"enter", "one"}));
  EXPECT_EQ(shell.Finish(), 125);
  EXPECT_THAT(shell.output(),
              AllOf(HasSubstr("box 'one' is paused"), HasSubstr("igloo agent resume one")));
}

TEST_F(PausedBox, CanBeStopped) {
  if (IsRefused()) return;
  EXPECT_EQ(RunProgram(Agent({"stop", "one"})).status, 0);
  EXPECT_NE(box_->Finish().status, 0);
  EXPECT_TRUE(WaitFor([&] { return FindMarked(marker_).empty(); }));
}

TEST_F(PausedBox, IsGoneWhenIglooIsKilledAndItsPlaceCanBeUsedAgain) {
  if (IsRefused()) return;
  box_->Signal(SIGKILL);
  box_->Finish();
  EXPECT_TRUE(WaitFor([&] { return FindMarked(marker_).empty(); }, 30));
  // More often than there are leaves that were used: none of them still stands.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(InBox("exit 4").status, 4);
}

TEST_F(AgentLife, ABoxThatRunsOutOfMemoryGoesOnAndSaysSo) {
  Running box(
      Script("python3 -c 'import time; x = b\"x\" * 400_000_000; time.sleep(1000)'; "
             "echo after $?; " +
                 Until("go"),
             {"--name", "one", "--memory", "100"}));
  if (!Counted()) {
    // igloo-init looks after the sum, and cannot tell whose memory is too much.
    EXPECT_THAT(box.Finish().err, HasSubstr("the box was ended: its processes together used more"));
    return;
  }
  ASSERT_TRUE(box.WaitForOutput("after 137")) << box.errors();
  EXPECT_TRUE(WaitFor([&] { return Has("one", "\"hits\":[\"memory\"]"); }, 30));
  EXPECT_THAT(RunProgram(Agent({"list"})).out, HasSubstr("it ran into its limit of memory"));
  Write("home/code/project/go", "");
  const Outcome outcome = box.Finish();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("ran into its limit of 100 MB of memory"));
}

TEST_F(AgentLife, ABoxThatRunsOutOfProcessesSaysSo) {
  Running box(
      Script("python3 -uc 'import threading, time, os\n"
             "def wait():\n"
             "  while not os.path.exists(\"go\"): time.sleep(0.05)\n"
             "threading.stack_size(65536)\n"
             "try:\n"
             "  while True: threading.Thread(target=wait).start()\n"
             "except RuntimeError: print(\"refused\")'",
             {"--name", "one"}));
  ASSERT_TRUE(box.WaitForOutput("refused")) << box.errors();
  const bool told =
      WaitFor([&] { return Has("one", "\"hits\":[\"processes\"]"); }, Counted() ? 30 : 0);
  EXPECT_EQ(told, Counted());
  Write("home/code/project/go", "");
  EXPECT_EQ(box.Finish().err.contains("could not start more"), Counted());
}

TEST_F(AgentLife, TheSummarySaysHowManyProcessorsItMayUse) {
  const Outcome summary = RunProgram(Agent({"--cmd", "bash", "--summary", "--network", "none"}));
  EXPECT_THAT(summary.out, HasSubstr(" processors"));
  const bool limited = cgroup::WhyNoCpus(cgroup::Find()).empty();
  EXPECT_EQ(summary.out.contains("nobody limits processors"), !limited) << summary.out;
}

TEST_F(AgentLife, CollectsWhatKilledBoxesLeftAndNothingOfLivingOnes) {
  Running alive(Script("echo up; sleep 1000", {"--name", "alive", "--propose"}));
  ASSERT_TRUE(alive.WaitForOutput("up")) << alive.errors();
  {
    Running dead(Script("echo up; sleep 1000", {"--name", "dead", "--propose"}));
    ASSERT_TRUE(dead.WaitForOutput("up")) << dead.errors();
    Running wrote(Script("echo new > file; echo up; sleep 1000", {"--name", "wrote", "--propose"}));
    ASSERT_TRUE(wrote.WaitForOutput("up")) << wrote.errors();
    dead.Signal(SIGKILL);
    wrote.Signal(SIGKILL);
    dead.Finish();
    wrote.Finish();
  }
  const std::string changes = home() + "/.local/state/igloo/changes/";
  const auto before = SnapshotOf(home() + "/code");
  const Outcome shown = RunProgram(Agent({"gc", "--dry-run"}));
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("would remove"), HasSubstr("dead")));
  EXPECT_TRUE(fs::exists(changes + "dead"));
  const Outcome done = RunProgram(Agent({"gc", "--json"}));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("\"what\":\"dead\""), Not(HasSubstr("alive"))));
  EXPECT_FALSE(fs::exists(changes + "dead"));
  EXPECT_TRUE(fs::exists(changes + "wrote")) << "what it changed is a person's";
  EXPECT_TRUE(fs::exists(changes + "alive"));
  EXPECT_TRUE(Row("alive").is_object());
  EXPECT_EQ(RunProgram(Agent({"gc"})).out, "nothing is left over\n");
  EXPECT_EQ(SnapshotOf(home() + "/code"), before);
}

}  // namespace
}  // namespace igloo::testing
