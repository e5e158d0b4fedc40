// What a configuration says has its effect on runs, shells and 'igloo env'.

#include "support/configured.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>

#include "support/terminal.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;
namespace json = boost::json;

TEST_F(Configured, TimeAndMemoryAreTheFilesUnlessTheCommandLineSaysOtherwise) {
  Write(kUsual, "[environments.slow]\npreset = 'shell'\ntimeout_seconds = 0.3\nmemory_mb = 64\n");
  const Outcome slow = Run({"run", "--env", "slow", "sleep 100"});
  EXPECT_EQ(slow.status, 124);
  EXPECT_THAT(slow.err, HasSubstr("time limit of 0.3 s"));
  EXPECT_EQ(Run({"run", "--env", "slow", "--timeout", "60", "sleep 1; echo on"}).out, "on\n");
  // Who counts it is up to the machine; how much it is stands in the plan, and it holds.
  const auto plan = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"run", "--dry-run"});
    args.emplace_back("true");
    return Run(args).out;
  };
  EXPECT_THAT(plan({"--env", "slow"}), HasSubstr("memory     64 MB in all\n"));
  EXPECT_THAT(plan({"--env", "slow", "--memory", "32"}), HasSubstr("memory     32 MB in all\n"));
  EXPECT_THAT(plan({"--env", "shell"}), HasSubstr("memory     512 MB in all\n")) << "control";
  const std::string eat = "head -c 200000000 /dev/zero | tail -c 200000000 | wc -c";
  EXPECT_NE(Run({"run", "--env", "slow", "--timeout", "60", eat}).out, "200000000\n");
  EXPECT_EQ(Run({"run", "--env", "shell", eat}).out, "200000000\n") << "control";
}

TEST_F(Configured, EveryLimitHoldsInsideAndIsShown) {
  Write(kUsual,
        "[limits]\ncpu_seconds = 1.5\nprocesses = 33\nopen_files = 44\nfile_mb = 1\ndisk_mb = 2\n"
        "disk_files = 30\noutput_mb = 1\ncpus = 1.5\n");
  const Outcome limits = Run({"run", "--env", "shell", "ulimit -t -n; ulimit -Hu; ulimit -f"});
  EXPECT_THAT(limits.out, AllOf(HasSubstr(" 2\n"), HasSubstr(" 44\n"), HasSubstr("\n33\n")))
      << limits.err;
  EXPECT_THAT(limits.out, HasSubstr("\n1024\n")) << "of 1024 bytes";
  const Outcome disk = Run(
      {"run", "--env", "shell", "df -B1 --output=size,itotal /workspace /tmp | tail -n 2 | xargs"});
  EXPECT_EQ(disk.out, "2097152 30 2097152 30\n") << disk.err;
  const json::value cut =
      json::parse(Run({"run", "--env", "shell", "--json", "yes | head -c 3000000"}).out);
  EXPECT_EQ(cut.at("stdout").at("bytes"), 3'000'000);
  EXPECT_EQ(cut.at("stdout").at("text").as_string().size(), 1U << 20);
  const json::value shown = json::parse(Run({"env", "show", "shell", "--json"}).out).at("limits");
  EXPECT_EQ(shown, (json::value{{"time_ms", 30'000},
                                {"cpu_ms", 2000},
                                {"memory_bytes", 512 << 20},
                                {"millicpus", 1500},
                                {"processes", 33},
                                {"open_files", 44},
                                {"file_bytes", 1 << 20},
                                {"disk_bytes", 2 << 20},
                                {"disk_files", 30},
                                {"output_bytes", 1 << 20}}));
  EXPECT_THAT(Run({"env", "show", "shell"}).out,
              AllOf(HasSubstr("\ncpu time     2 s\n"), HasSubstr("\ncpus         1.5"),
                    HasSubstr("\nprocesses    33\n"), HasSubstr("\ndisk         2 MB, 30 files\n"),
                    HasSubstr("\noutput kept  1 MB\n")));
}

TEST_F(Configured, ProcessorTimeEndsCodeThatComputes) {
  Write(kUsual, "[limits]\ncpu_seconds = 1\n");
  const Outcome outcome = Run({"run", "--env", "python", "while True: pass"});
  EXPECT_EQ(outcome.status, 124);
  EXPECT_THAT(outcome.err, HasSubstr("its limit of 1 s of processor time"));
}

TEST_F(Configured, EnvironmentsHaveTheirNamesVariablesAndDescriptions) {
  Write(
      kUsual,
      "[environments.build]\npreset = 'shell'\ndescription = 'mine'\n"
      "env = { A = '1', HOME = '/tmp', B = 'theirs' }\ninherit_env.vars = ['TOKEN', 'B', 'NONE']\n"
      "[environments.b]\nalias = 'build'\n[environments.python]\nenv = { X = '2' }\n");
  for (const char* name : {"build", "b"}) {
    const Outcome run =
        Run({"run", "--env", name, "echo $A $HOME $B $TOKEN ${NONE-unset}"}, {"B=yours"});
    EXPECT_EQ(run.out, "1 /tmp yours hunter2 unset\n") << run.err;
  }
  EXPECT_EQ(Run({"run", "--env", "build", "echo $B"}).out, "theirs\n");
  EXPECT_EQ(Run({"run", "--env", "python3", "import os; print(os.environ['X'])"}).out, "2\n");
  EXPECT_EQ(Run({"run", "--env", "shell", "echo ${A-unset}"}).out, "unset\n");
  const Outcome list = Run({"env", "list"});
  EXPECT_THAT(list.out, HasSubstr("\nbuild          host      mine (also: b)\n")) << list.err;
  EXPECT_THAT("\n" + Run({"env", "list", "--names"}).out, HasSubstr("\nbuild\nb\n"));
  const json::value shown = json::parse(Run({"env", "show", "b", "--json"}).out);
  EXPECT_EQ(shown.at("name"), "build");
  EXPECT_EQ(shown.at("description"), "mine");
  EXPECT_EQ(shown.at("variables").at("HOME"), "/tmp");
  EXPECT_EQ(shown.at("inherited"), (json::value{"TOKEN", "B", "NONE"}));
}

TEST_F(Configured, InheritedValuesAreForTheCodeAlone) {
  Write(kUsual, "[environments.t]\npreset = 'shell'\ninherit_env.vars = ['TOKEN']\n");
  EXPECT_EQ(Run({"run", "--env", "t", "echo $TOKEN"}).out, "hunter2\n") << "control";
  const std::vector<std::vector<std::string>> commands = {
      {"env", "list"},
      {"env", "show", "t"},
      {"env", "show", "t", "--json"},
      {"config", "check"},
      {"run", "--env", "t", "--dry-run", "x"},
      {"run", "--env", "t", "--dry-run", "--json", "x"},
      {"run", "--env", "t", "--dry-run", "--as", "bwrap", "x"},
      {"shell", "--env", "t", "--dry-run"}};
  for (const auto& command : commands) {
    const Outcome outcome = Run(command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("hunter2"))) << command[0];
  }
  EXPECT_THAT(Run({"run", "--env", "t", "--dry-run", "x"}).out, HasSubstr("TOKEN=(yours)"));
}

TEST_F(Configured, TheBackendIsTheFilesUnlessTheCommandLineSaysOtherwise) {
  Write(kUsual,
        "[defaults]\nbackend = 'bubblewrap'\n[environments.own]\npreset = 'shell'\n"
        "backend = 'jail'\n[environments.fine]\npreset = 'shell'\nlimits.disk_files = 100\n");
  const char* const note = "note: bubblewrap cannot limit";
  const Outcome wrapped = Run({"run", "--env", "shell", "echo in"});
  EXPECT_EQ(wrapped.out, "in\n") << wrapped.err;
  EXPECT_THAT(wrapped.err, HasSubstr(note));
  EXPECT_EQ(Run({"run", "--env", "own", "echo in"}).err, "");
  EXPECT_EQ(Run({"run", "--env", "shell", "--backend", "jail", "echo in"}).err, "");
  EXPECT_THAT(Run({"run", "--env", "own", "--backend", "bubblewrap", "1"}).err, HasSubstr(note));
  EXPECT_EQ(json::parse(Run({"env", "show", "shell", "--json"}).out).at("backend"), "bubblewrap");
  EXPECT_THAT(Run({"env", "show", "own"}).out, HasSubstr("\nbackend      jail\n"));
  const Outcome refused = Run({"run", "--env", "fine", "echo ran"});
  EXPECT_EQ(refused.status, 125) << "a limit that bubblewrap cannot keep is not dropped";
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("'disk_files'"));
}

TEST_F(Configured, TheProjectIsTheFilesUnlessTheCommandLineSaysOtherwise) {
  Write("p/file", "content\n");
  Write("other/file", "other\n");
  const auto config = [&](const std::string& mode) {
    Write(kUsual, "[project]\npath = '~/p'\nmode = '" + mode + "'\ninherit_env.vars = ['TOKEN']\n");
  };
  const std::string code = "cat /project/file; echo new > /project/file; echo $TOKEN";
  config("readonly");
  const Outcome read_only = Run({"run", "--env", "shell", code});
  EXPECT_EQ(read_only.out, "content\nhunter2\n") << read_only.err;
  EXPECT_THAT(read_only.err, HasSubstr("Read-only file system"));
  config("overlay");
  EXPECT_EQ(Run({"run", "--env", "shell", code + "; cat /project/file"}).out,
            "content\nhunter2\nnew\n");
  EXPECT_EQ(Read("p/file"), "content\n");
  config("readwrite");
  const Outcome written = Run({"run", "--env", "shell", code});
  EXPECT_EQ(written.out, "content\nhunter2\n") << written.err;
  EXPECT_EQ(Read("p/file"), "new\n");

  const Outcome other = Run({"run", "--env", "shell", "--project", Path("other"), code});
  EXPECT_EQ(other.out, "other\n\n") << "neither the mode nor the variables are for that one";
  EXPECT_EQ(Read("other/file"), "other\n");
  EXPECT_EQ(Run({"run", "--env", "shell", "--no-project", "ls -d /project; echo $TOKEN"}).out,
            "\n");
  const json::value shown = json::parse(Run({"env", "show", "shell", "--json"}).out);
  const json::value& project = shown.at("project");
  EXPECT_EQ(project.at("path").as_string(), Path("p"));
  EXPECT_EQ(project.at("mode"), "readwrite");
  EXPECT_EQ(project.at("mount_point"), "/project");
  EXPECT_EQ(project.at("show_hidden"), json::array{});
  EXPECT_THAT(Run({"env", "show", "shell"}).out,
              HasSubstr("\nproject      /project <- " + Path("p") + " (readwrite)\n"));
}

TEST_F(Configured, AProjectThatIsNotOneIsRefusedWithItsPlace) {
  for (const char* path : {"~/none", "~", "/"}) {
    Write(kUsual, "[project]\npath = '" + std::string(path) + "'\n");
    const Outcome outcome = Run({"run", "--env", "shell", "echo ran"});
    EXPECT_EQ(outcome.status, 125) << path;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(Path(kUsual) + ":2:1: ")) << path;
    EXPECT_EQ(Run({"env", "list"}).status, 0) << "nothing is shown to code there";
  }
  EXPECT_THAT(Run({"run", "--env", "shell", "--project", "", "1"}).err,
              HasSubstr("the project '' does not exist"));
}

/// '.' in a user's own configuration is where that lies, and nobody means that.
TEST_F(Configured, IgloosOwnDirectoriesAreNoProject) {
  Write("app/file", "of the project\n");
  const std::vector<std::string> show = {"run", "--env", "shell", "cat /project/* 2>&1"};
  for (const std::string path : {".", "./environments", "..", "../../.local/state/igloo"}) {
    for (const std::string mode : {"readonly", "overlay", "readwrite"}) {
      Write(kUsual, "[project]\npath = '" + path + "'\nmode = '" + mode + "'\n");
      Write(".config/igloo/environments/x/file", "");
      Write(".local/state/igloo/http-token", "secret");
      const Outcome outcome = Run(show);
      EXPECT_EQ(outcome.status, 125) << path << outcome.out;
      EXPECT_THAT(outcome.err, AllOf(HasSubstr("config.toml:2:1: "), HasSubstr("it is not mounted"),
                                     HasSubstr("relative to that file")));
    }
  }
  Write(kUsual, "");
  const Outcome flag =
      Run({"run", "--env", "shell", "--project", Path(".config/igloo"), "cat /project/*"});
  EXPECT_EQ(flag.status, 125);
  EXPECT_THAT(flag.err, HasSubstr("igloo's own directory"));
  // Control: a project elsewhere, and a configuration that lies in one.
  Write(kUsual, "[project]\npath = '../../app'\n");
  EXPECT_EQ(Run(show).out, "of the project\n");
  Write("app/mine.toml", "[project]\npath = '.'\n");
  const Outcome named =
      Run({"run", "--config", Path("app/mine.toml"), "--env", "shell", "cat /project/file"});
  EXPECT_EQ(named.out, "of the project\n") << named.err;
}

TEST_F(Configured, CodeThatMayWriteToAProjectCannotReachTheConfigurationInIt) {
  Write("app/file", "before\n");
  std::filesystem::permissions(Path("app"), std::filesystem::perms(0777));
  const std::string file = Write("app/mine.toml", "[project]\npath = '.'\nmode = 'readwrite'\n");
  const std::vector<std::string> change = {
      "run", "--config", file, "--env", "shell", "touch /project/new && echo changed"};
  const Outcome refused = Run(change);
  EXPECT_EQ(refused.status, 125) << refused.out;
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("could change the configuration"), HasSubstr("mode = \"overlay\"")));
  // Control: kept elsewhere, the same project can be written to.
  const std::string outside =
      Write("elsewhere.toml", "[project]\npath = 'app'\nmode = 'readwrite'\n");
  EXPECT_EQ(
      Run({"run", "--config", outside, "--env", "shell", "touch /project/new && echo changed"}).out,
      "changed\n");
  Write("app/mine.toml", "[project]\npath = '.'\nmode = 'overlay'\n");
  EXPECT_EQ(Run(change).out, "changed\n");
}

TEST_F(Configured, ArtifactsComeFromThePathOrTheDirectoryThatTheFileNames) {
  const std::string interpreter = MakeStorePath();
  MakeArtifact("one/art", "science");
  MakeArtifact("many/data", "data");
  Write(kUsual,
        "[artifacts]\ndirectory = '~/many'\n[environments.lab]\npath = '~/one/art'\n"
        "env = { GREETING = 'hi' }\n");
  EXPECT_EQ(Run({"run", "--env", "lab", "variable GREETING"}).out, "hi\n");
  EXPECT_EQ(Run({"run", "--env", "data", "say found"}).out, "found\n");
  const Outcome list = Run({"env", "list"});
  EXPECT_THAT(list.out, AllOf(HasSubstr("\ndata           artifact"),
                              HasSubstr("\nlab            artifact"), Not(HasSubstr("science"))));
  const json::value shown = json::parse(Run({"env", "show", "lab", "--json"}).out);
  EXPECT_EQ(shown.at("limits").at("time_ms"), 7000);
  EXPECT_EQ(shown.at("sources").at(0).at("target"), interpreter.c_str());
  fs::remove_all(Path("one"));
  const Outcome gone = Run({"run", "--env", "lab", "say x"});
  EXPECT_EQ(gone.status, 125);
  EXPECT_THAT(gone.err, AllOf(HasSubstr(Path(kUsual) + ":3:15: "), HasSubstr("mkSandbox")));
  fs::remove_all(Path("many"));
  EXPECT_THAT(Run({"env", "list"}).err,
              HasSubstr("[artifacts] in '" + Path(kUsual) + "' names it"));
}

TEST_F(Configured, AProjectsOwnFileCountsOnlyWhenItIsTrusted) {
  Write("p/igloo.toml", "[environments.app]\npreset = 'shell'\n");
  const std::vector<std::string> run = {"run", "--env", "app", "--project", Path("p"), "echo yes"};
  const auto list = [&] { return Run({"env", "list", "--names", "--project", Path("p")}); };
  const auto expect_untrusted = [&](const std::string& why) {
    const Outcome outcome = Run(run);
    EXPECT_EQ(outcome.status, 125);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err,
                HasSubstr("igloo: note: '" + Path("p/igloo.toml") + "' does not count: it " + why +
                          "; look at it, then: igloo trust " + Path("p") + "\n"));
    EXPECT_THAT(list().out, Not(HasSubstr("app\n")));
    const Outcome others = Run({"run", "--env", "shell", "--project", Path("p"), "echo on"});
    EXPECT_EQ(others.out, "on\n") << "everything else works: " << others.err;
  };
  expect_untrusted("is not trusted");
  ASSERT_EQ(Run({"trust", Path("p")}).status, 0);
  const Outcome trusted = Run(run);
  EXPECT_EQ(trusted.out, "yes\n") << trusted.err;
  EXPECT_EQ(trusted.err, "");
  EXPECT_THAT(list().out, HasSubstr("app\n"));
  Write(kUsual, "[project]\npath = '~/p'\n");
  EXPECT_EQ(Run({"run", "--env", "app", "echo yes"}).out, "yes\n") << "also when the file names it";
  Write("p/igloo.toml", "[environments.app]\npreset = 'python'\n");
  expect_untrusted("has changed since it was trusted");
}

TEST_F(Configured, NothingThatAProjectPutsInPlaceOfItsFileStopsARun) {
  fs::create_directories(Path("p"));
  const std::string path = Path("p/igloo.toml");
  const auto expect_fine = [&](const char* what) {
    const Outcome run = Run({"run", "--env", "shell", "--project", Path("p"), "echo on"});
    EXPECT_EQ(run.out, "on\n") << what << ": " << run.err;
    EXPECT_THAT(run.err, HasSubstr("is not trusted")) << what;
    fs::remove_all(path);
  };
  fs::create_directory(path);
  expect_fine("a directory");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_fine("a pipe that nobody writes to");
  fs::create_symlink("/dev/zero", path);
  expect_fine("a link to something endless");
  Write("p/igloo.toml", "[environments.shell]\npath = '/'\n]]]] not TOML");
  expect_fine("no TOML");
}

TEST_F(Configured, TheFileIsTheOneThatWasNamed) {
  Write(kUsual, "[environments.e]\npreset = 'shell'\ndescription = 'usual'\n");
  const std::string variable =
      Write("v.toml", "[environments.e]\npreset = 'shell'\ndescription = 'variable'\n");
  const std::string flag =
      Write("f.toml", "[environments.e]\npreset = 'shell'\ndescription = 'flag'\n");
  EXPECT_THAT(Run({"env", "show", "e"}).out, HasSubstr("usual"));
  EXPECT_THAT(Run({"env", "show", "e"}, {"IGLOO_CONFIG=" + variable}).out, HasSubstr("variable"));
  EXPECT_THAT(Run({"env", "show", "e", "--config", flag}, {"IGLOO_CONFIG=" + variable}).out,
              HasSubstr("flag"));
  EXPECT_EQ(Run({"run", "--env", "e", "--config", flag, "echo on"}).out, "on\n");
}

TEST_F(Configured, AShellHasWhatTheFileSaysButNoEndOfItsOwn) {
  const std::string file =
      Write("c.toml",
            "[defaults]\ntimeout_seconds = 0.001\nmemory_mb = 99\n[limits]\nopen_files = 44\n"
            "[project]\npath = 'p'\nmode = 'overlay'\n[environments.mine]\npreset = 'shell'\n"
            "env = { WHO = 'me' }\n[environments.m]\nalias = 'mine'\n");
  Write("p/file", "content\n");
  const Outcome plan = Run({"shell", "--env", "m", "--config", file, "--dry-run"});
  EXPECT_EQ(plan.status, 0) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("99 MB"), HasSubstr("WHO=me"), HasSubstr(Path("p"))));
  for (const char* backend : OfferedWalls()) {
    Terminal shell(BinDirectory() + "/igloo",
                   {"shell", "--env", "m", "--config", file, "--no-project", "--backend", backend});
    ASSERT_TRUE(shell.WaitForOutput("[igloo mine] ")) << backend << shell.output();
    shell.Type("echo $WHO-$(ulimit -n)\r");
    EXPECT_TRUE(shell.WaitForOutput("me-44\r\n")) << backend << shell.output();
    shell.Type("exit 7\r");
    EXPECT_EQ(shell.Finish(), 7) << backend << shell.output();
  }
}

TEST_F(Configured, TheDoctorNamesTheFileAndWhatIsWrongWithIt) {
  Write(kUsual, "[environments.mine]\npreset = 'shell'\n");
  EXPECT_THAT(Run({"doctor"}).out,
              AllOf(HasSubstr(Path(kUsual) + "\n"), HasSubstr("environment mine")));
  Write(kUsual, "[environments.mine]\npreset = 'shel'\n");
  const Outcome outcome = Run({"doctor"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr(Path(kUsual) + ":2:10: "), HasSubstr("did you mean 'shell'?")));
}

}  // namespace
}  // namespace igloo::testing
