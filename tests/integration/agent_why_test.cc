// What boxes were refused, as `igloo agent why` tells it, and what --learn writes down.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <boost/json/parse.hpp>

#include "support/agent_box.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AgentWhy : public AgentBox {
 protected:
  /// The row of a list of refusals; null: there is none.
  static json::value RowOf(const json::value& why, std::string_view kind, std::string_view what) {
    for (const json::value& each : why.at("refusals").as_array()) {
      if (std::string_view(each.at("kind").as_string()) == kind &&
          each.at("what").as_string().find(what) != std::string::npos) {
        return each;
      }
    }
    return nullptr;
  }
  Outcome Why(std::vector<std::string> words = {}) const {
    words.insert(words.begin(), "why");
    return RunProgram(AgentBox::Agent(std::move(words)));
  }
  json::value WhyJson(std::vector<std::string> words = {}) const {
    words.emplace_back("--json");
    const Outcome outcome = Why(std::move(words));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    boost::system::error_code error;
    const json::value value = json::parse(outcome.out, error);
    EXPECT_FALSE(error) << outcome.out;
    return value;
  }
  std::string Learned(const std::string& box = "bash-project") const {
    return Read("home/.local/state/igloo/learned/" + box + ".toml");
  }
};

TEST_F(AgentWhy, CountsRefusedCallsByProgramAndSaysWhatWouldAllowThem) {
  const Outcome ran = InBox(
      "for i in 1 2 3; do unshare -r true; done; python3 -c '\n"
      "import ctypes\n"
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "print(libc.mount(0, 0, 0, 0, 0), ctypes.get_errno())'");
  EXPECT_EQ(ran.out, "-1 1\n") << "EPERM, as without anybody who listens";
  EXPECT_THAT(ran.err, HasSubstr("igloo agent why bash-project"));
  const json::value why = WhyJson({"bash-project"});
  const json::value unshared = RowOf(why, "call", "unshare");
  ASSERT_FALSE(unshared.is_null()) << why;
  EXPECT_EQ(unshared.at("count"), 3);
  EXPECT_THAT(std::string(unshared.at("program").as_string()), HasSubstr("/unshare"));
  EXPECT_THAT(std::string(unshared.at("remedy").as_string()), HasSubstr("nothing allows it"));
  EXPECT_GE(unshared.at("first").as_int64(), why.at("started").as_int64());
  EXPECT_LE(unshared.at("last").as_int64(), why.at("ended").as_int64());
  EXPECT_EQ(RowOf(why, "call", "mount").at("count"), 1);
  EXPECT_THAT(Why().out, AllOf(HasSubstr("unshare by /"), HasSubstr("3 times"),
                               HasSubstr("only with --learn")));
}

TEST_F(AgentWhy, KnowsABoxWhileItRuns) {
  Running box(Script("unshare -r true; echo up; read x; unshare -r true; echo again; read x"));
  ASSERT_TRUE(box.WaitForOutput("up")) << box.errors();
  EXPECT_TRUE(WaitFor([&] { return !RowOf(WhyJson(), "call", "unshare").is_null(); }));
  EXPECT_EQ(WhyJson().at("ended"), 0);
  box.Write("\n");
  ASSERT_TRUE(box.WaitForOutput("again")) << box.errors();
  EXPECT_TRUE(WaitFor([&] { return RowOf(WhyJson(), "call", "unshare").at("count") == 2; }));
  box.Finish();
}

TEST_F(AgentWhy, WithoutANameItIsTheOneThatRunsOrTheLastOrNobodyKnows) {
  EXPECT_EQ(Why().status, 125);
  EXPECT_THAT(Why().err, HasSubstr("no box has run yet"));
  EXPECT_THAT(Why({"nobody"}).err, HasSubstr("no box has run yet"));
  EXPECT_EQ(InBox("true", {"--name", "first"}).status, 0);
  EXPECT_EQ(WhyJson().at("box"), "first");
  EXPECT_THAT(Why().out, HasSubstr("nothing was refused"));
  {
    Running one(Script("echo up; sleep 1000", {"--name", "one"}));
    ASSERT_TRUE(one.WaitForOutput("up")) << one.errors();
    EXPECT_EQ(WhyJson().at("box"), "one");
    Running two(Script("echo up; sleep 1000", {"--name", "two"}));
    ASSERT_TRUE(two.WaitForOutput("up")) << two.errors();
    const Outcome unsure = Why();
    EXPECT_EQ(unsure.status, 125);
    EXPECT_THAT(unsure.err, AllOf(HasSubstr("several boxes run"), HasSubstr("one, two")));
    EXPECT_EQ(WhyJson({"two"}).at("box"), "two");
    EXPECT_THAT(Why({"three"}).err, HasSubstr("there are: "));
    one.Signal(SIGKILL);
    one.Finish();
    EXPECT_THAT(Why({"one"}).out, HasSubstr("its igloo was killed"));
  }
  EXPECT_EQ(InBox("true", {"--name", "why"}).status, 125) << "a word of the command";
}

TEST_F(AgentWhy, ShowsARefusedConnectionWithItsRule) {
  const Outcome ran = RunProgram(AgentBox::Agent(
      {"--cmd", "bash", "--yes", "--network", "allow", "--", "-c",
       "for i in 1 2; do exec 3<>/dev/tcp/127.0.0.1/3128; "
       "printf 'CONNECT example.com:443 HTTP/1.1\\r\\nHost: example.com:443\\r\\n\\r\\n' >&3; "
       "cat <&3 >/dev/null; done"}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json::value row = RowOf(WhyJson(), "network", "example.com:443");
  ASSERT_FALSE(row.is_null()) << ran.err;
  EXPECT_EQ(row.at("count"), 2);
  EXPECT_THAT(std::string(row.at("remedy").as_string()), HasSubstr("--allow example.com:443"));
}

TEST_F(AgentWhy, AnotherUsersTerminalIsNotSteeredByNames) {
  Write("home/code/project/evil.sh", "#!/bin/sh\n");
  const Outcome ran = InBox("cp /usr/bin/unshare $'./\\e[2Jx'; $'./\\e[2Jx' -r true");
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_THAT(Why().out, AllOf(HasSubstr("\\x1b[2Jx"), Not(HasSubstr("\x1b[2Jx"))));
}

TEST_F(AgentWhy, LearningShowsHiddenFilesRefusedWritesAndWhatOnlyTheHostHas) {
  Write("home/code/project/.env", "SECRET=1\n");
  fs::create_directories(Path("home/.cargo"));
  Write("home/.cargo/config.toml", "");
  const std::string script =
      "cat .env; cat <.env; echo x >/usr/share/x; mkdir /usr/share/y; cat ~/.cargo/config.toml; "
      "cat ~/nowhere; echo ok >~/.newtool || true; mkdir -p ~/.cache/tool && echo x "
      ">~/.cache/tool/x; "
      "cat file";
  const Outcome ran = InBox(script, {"--learn"});
  EXPECT_THAT(ran.out, HasSubstr("old\n"));
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("--learn: igloo looks at every file"),
                    HasSubstr("what the box used is in '"), HasSubstr(".env: Permission denied")));
  const json::value why = WhyJson();
  EXPECT_THAT(std::string(RowOf(why, "hidden", "/.env").at("remedy").as_string()),
              HasSubstr("--show-hidden .env"));
  EXPECT_THAT(std::string(RowOf(why, "write", "/usr/share/x").at("remedy").as_string()),
              HasSubstr("nothing allows it"));
  EXPECT_FALSE(RowOf(why, "write", "/usr/share/y").is_null());
  EXPECT_THAT(std::string(RowOf(why, "missing", ".cargo/config.toml").at("remedy").as_string()),
              HasSubstr("--home .cargo"));
  EXPECT_TRUE(RowOf(why, "missing", "nowhere").is_null());
  EXPECT_TRUE(RowOf(why, "write", "/code/project/").is_null());
  EXPECT_THAT(Learned(), AllOf(HasSubstr("[agents.bash]\n"), HasSubstr("\".cache/tool\""),
                               HasSubstr(home() + "/.cargo\n"), HasSubstr("/cat\n")));
  // And the remedies are true.
  EXPECT_EQ(InBox("cat .env", {"--show-hidden", ".env"}).out, "SECRET=1\n");
  EXPECT_EQ(InBox("cat ~/.cargo/config.toml", {"--home", ".cargo"}).status, 0);
}

TEST_F(AgentWhy, TheLearnedProfileIsReadAsAConfigurationAndNeverByItself) {
  fs::create_directories(Path("home/.cache/tool"));
  const Outcome learning =
      InBox("mkdir -p ~/.cache/tool; echo x >~/.cache/tool/x", {"--learn=" + Path("home/l.toml")});
  EXPECT_EQ(learning.status, 0) << learning.err;
  EXPECT_FALSE(fs::exists(Path("home/.cache/tool/x"))) << "nothing was applied";
  EXPECT_EQ(InBox("cat ~/.cache/tool/x").status, 1) << "nor for the next box";
  const Outcome profile =
      RunProgram(AgentBox::Agent({"bash", "--config", Path("home/l.toml"), "--yes", "--network",
                                  "none", "--", "-c", "echo kept >~/.cache/tool/x"}));
  EXPECT_EQ(profile.status, 0) << profile.err;
  EXPECT_EQ(Read("home/.cache/tool/x"), "kept\n");
}

TEST_F(AgentWhy, NothingIsLearnedIntoTheProject) {
  const auto before = SnapshotOf(project());
  const Outcome refused = InBox("true", {"--learn=" + project() + "/l.toml"});
  EXPECT_EQ(refused.status, 125);
  EXPECT_THAT(refused.err, HasSubstr("lies in the project"));
  fs::create_directory_symlink(project(), Path("home/link"));
  EXPECT_EQ(InBox("true", {"--learn=" + Path("home/link/l.toml")}).status, 125);
  EXPECT_EQ(InBox("true", {"--learn=/no/such/place/l.toml"}).status, 125);
  EXPECT_EQ(InBox("true", {"--learn"}).status, 0);
  EXPECT_EQ(SnapshotOf(project()), before);
}

/// Exit codes, signals, threads, pipes and job control are as without --learn.
TEST_F(AgentWhy, ProgramsRunAsTheyDoWhenNobodyLooks) {
  for (const char* script :
       {"exit 7", "kill -TERM $$", "sh -c 'kill -SEGV $$'; echo $?", "no-such-program; echo $?",
        "sleep 100 & kill -STOP $!; kill -CONT $!; kill -9 $!; wait $!; echo $?",
        "seq 1000 | sort -rn | head -1", "cat file | tr a-z A-Z",
        "git status --short && echo x >y && git add y && git commit -qm y && git log --oneline | "
        "wc -l",
        "python3 -c 'import threading\n"
        "ts = [threading.Thread(target=lambda: [open(\"file\").read() for _ in range(200)]) for _ "
        "in "
        "range(8)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]; print(\"joined\")'",
        "python3 -c 'import os, subprocess\n"
        "print(subprocess.run([\"true\"], close_fds=False).returncode, os.system(\"exit 3\") >> "
        "8)'",
        "set -m; (exit 4) & wait $!; echo $?", "./no-exec 2>&1; echo $?",
        "python3 -c 'import signal, time\n"
        "hits = []\n"
        "signal.signal(signal.SIGALRM, lambda *a: hits.append(1))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)\n"
        "for _ in range(3000): open(\"file\").close()\n"
        "signal.setitimer(signal.ITIMER_REAL, 0); print(len(hits) > 0)'"}) {
    Write("home/code/project/no-exec", "text\n");
    Git({"clean", "-qfd"});
    Git({"reset", "-q", "--hard", "HEAD"});
    const Outcome plain = InBox(script);
    Git({"reset", "-q", "--hard", "main"});
    const std::string head = Git({"rev-parse", "HEAD"}).out;
    const Outcome learned = InBox(script, {"--learn"});
    EXPECT_EQ(learned.status, plain.status) << script << learned.err;
    if (std::string_view(script).find("git log") == std::string_view::npos) {
      EXPECT_EQ(learned.out, plain.out) << script << learned.err;
    }
  }
}

class AgentWhyTerminal : public AgentWhy {};

TEST_F(AgentWhyTerminal, JobControlWorksWhileItLearns) {
  Invocation invocation = AgentBox::Agent(
      {"--cmd", "bash", "--yes", "--network", "none", "--learn", "--", "--norc", "-i"});
  Terminal box = AtTerminal(invocation);
  box.Type("sleep 1000\r");
  ASSERT_TRUE(box.WaitForOutput("sleep 1000\r\n")) << box.output();
  box.Type("\x1a");
  ASSERT_TRUE(box.WaitForOutput("Stopped")) << box.output();
  box.Type("jobs; kill %1; wait; echo do''ne\r");
  ASSERT_TRUE(box.WaitForOutput("done\r\n")) << box.output();
  box.Type("cat\r");
  box.Type("typed\r");
  ASSERT_TRUE(box.WaitForOutput("typed\r\ntyped\r\n")) << box.output();
  box.Type("\x03");
  box.Type("exit 5\r");
  EXPECT_EQ(box.Finish(), 5) << box.output();
}

TEST_F(AgentWhy, AShellThatEntersIsHeardToo) {
  Running box(Script("echo up; sleep 1000"));
  ASSERT_TRUE(box.WaitForOutput("up")) << box.errors();
  Terminal inside =
      AtTerminal(AgentBox::Agent({"enter", "bash-project", "--", "unshare", "-r", "true"}));
  EXPECT_EQ(inside.Finish(), 1) << inside.output();
  EXPECT_THAT(inside.output(), HasSubstr("Operation not permitted"));
  EXPECT_TRUE(WaitFor([&] { return !RowOf(WhyJson(), "call", "unshare").is_null(); }));
}

}  // namespace
}  // namespace igloo::testing
