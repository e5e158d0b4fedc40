// Secrets in projects: their names are there, and nobody in a sandbox reads them.

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "support/configured.h"
#include "support/host.h"
#include "support/mcp.h"
#include "support/terminal.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSecret = "TOKEN=hunter3";

class HiddenFiles : public Configured {
 protected:
  void SetUp() override {
    Configured::SetUp();
    Write("app/.env", std::string(kSecret) + "\n");
    Write("app/.env.example", "TOKEN=\n");
    Write("app/config/id_rsa", "-----BEGIN OPENSSH PRIVATE KEY-----\n");
    Write("app/secrets/a.txt", "of the user's own choice\n");
    Write("app/main.py", "print('hello')\n");
    Write("app/.git/config",
          "[remote \"origin\"]\n\turl = https://me:hunter3@example.org/a.git\n\tfetch = x\n");
  }
  std::string App() const { return Path("app"); }
  /// [project] with more lines.
  void Configure(const std::string& more) const {
    Write(kUsual, "[project]\npath = '" + App() + "'\n" + more);
  }
  Outcome Shell(const std::string& code, std::vector<std::string> more = {}) const {
    std::vector<std::string> args = {"run", "--env", "shell"};
    args.insert(args.end(), more.begin(), more.end());
    args.push_back(code);
    return Run(args);
  }
};

TEST_F(HiddenFiles, AreThereAndCannotBeReadInEveryMode) {
  for (const std::string mode : {"readonly", "overlay", "readwrite"}) {
    Configure("mode = '" + mode + "'\n");
    const auto before = SnapshotOf(App());
    const Outcome outcome =
        Shell("cd /project; ls -A; cat .env config/id_rsa; cat .env.example main.py");
    EXPECT_THAT(outcome.out, AllOf(HasSubstr(".env\n"), HasSubstr("main.py\n"),
                                   HasSubstr("TOKEN=\n"), HasSubstr("print('hello')")))
        << mode << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("cat: .env: Permission denied"),
                                   HasSubstr("cat: config/id_rsa: Permission denied")))
        << mode;
    EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("hunter3")));
    EXPECT_EQ(SnapshotOf(App()), before) << "nothing of it is left on the host";
  }
}

TEST_F(HiddenFiles, AreCoveredBehindBubblewrapToo) {
  const Outcome outcome = Shell("cd /project; ls -A; cat .env; cat main.py",
                                {"--project", App(), "--backend", "bubblewrap"});
  if (RunningAsRoot()) {
    EXPECT_EQ(outcome.status, 125) << "it shows root no project";
    return;
  }
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(".env\n"), HasSubstr("hello"))) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("cat: .env: Permission denied"));
  Configure("mode = 'readwrite'\n");
  EXPECT_THAT(Shell("true", {"--backend", "bubblewrap"}).err,
              HasSubstr("bubblewrap 0.8 cannot hide '/project/.env' in a directory that"));
  EXPECT_EQ(Shell("cat /project/.env", {"--backend", "bubblewrap", "--show-hidden", "**"}).out,
            std::string(kSecret) + "\n");
}

TEST_F(HiddenFiles, CannotBeOpenedByChangingTheirRights) {
  Configure("mode = 'readwrite'\n");
  const Outcome outcome = Shell(
      "cd /project; chmod 644 .env; mv .env x; rm -f .env; ln .env y; mv x .env; cat .env; true");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("Read-only file system"), HasSubstr("busy"),
                                 HasSubstr("cat: .env: Permission denied")));
  EXPECT_EQ(Read("app/.env"), std::string(kSecret) + "\n");
}

TEST_F(HiddenFiles, AreShownToWhomTheUserShowsThem) {
  Configure("mode = 'readwrite'\n");
  const Outcome one = Shell("cat /project/.env /project/config/id_rsa", {"--show-hidden", ".env"});
  EXPECT_EQ(one.out, std::string(kSecret) + "\n");
  EXPECT_THAT(one.err, HasSubstr("id_rsa: Permission denied"));
  const Outcome both = Shell("cat /project/.env /project/config/id_rsa",
                             {"--show-hidden", ".env", "--show-hidden", "config/*"});
  EXPECT_THAT(both.out, AllOf(HasSubstr(kSecret), HasSubstr("PRIVATE KEY"))) << both.err;
  Configure("show_hidden = ['.env']\n");
  EXPECT_EQ(Shell("cat /project/.env").out, std::string(kSecret) + "\n");
  EXPECT_THAT(Shell("cat /project/.env", {"--project", App()}).err, HasSubstr("Permission denied"))
      << "what the configuration shows is of its own project";
  Configure(
      "[environments.shell]\nshow_hidden = ['.env']\n[environments.python]\npreset = 'python'\n");
  EXPECT_EQ(Shell("cat /project/.env").out, std::string(kSecret) + "\n");
  EXPECT_THAT(Run({"run", "--env", "python", "open('/project/.env')"}).err,
              HasSubstr("PermissionError"));
}

TEST_F(HiddenFiles, AreMoreIfTheConfigurationSaysSo) {
  Configure("hide = ['secrets/', '*.py']\n");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--project", App()}, {"--project", App() + ":overlay"}}) {
    const Outcome outcome = Shell("cd /project; ls; cat secrets/a.txt main.py", more);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("secrets\n"), Not(HasSubstr("choice"))));
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("secrets/a.txt: Permission denied"),
                                   HasSubstr("main.py: Permission denied")));
  }
}

TEST_F(HiddenFiles, AProjectsOwnFileHidesMoreAndShowsNothing) {
  Write("app/igloo.toml", "[project]\nhide = ['secrets']\n");
  ASSERT_EQ(Run({"trust", App()}).status, 0);
  EXPECT_THAT(Shell("cat /project/secrets/a.txt", {"--project", App()}).err,
              HasSubstr("Permission denied"));
  Write("app/igloo.toml", "[project]\nshow_hidden = ['.env']\n");
  const Outcome refused = Run({"trust", App()});
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err,
              HasSubstr("'project.show_hidden' shows what is hidden, which a project's "
                        "own file never does"));
  EXPECT_THAT(Shell("cat /project/.env", {"--project", App()}).err,
              HasSubstr("cat: /project/.env: Permission denied"));
}

TEST_F(HiddenFiles, OfGitAreReadWithoutTheirPasswords) {
  for (const std::string mode : {"readonly", "overlay", "readwrite"}) {
    Configure("mode = '" + mode + "'\n");
    const Outcome outcome = Shell("cat /project/.git/config; echo x >> /project/.git/config");
    EXPECT_THAT(outcome.out, HasSubstr("\turl = https://example.org/a.git\n\tfetch = x\n")) << mode;
    EXPECT_THAT(outcome.err, HasSubstr("/project/.git/config: "))
        << "and nobody writes to the copy";
  }
  EXPECT_THAT(Read("app/.git/config"), HasSubstr("me:hunter3@"));
}

TEST_F(HiddenFiles, StandInThePlan) {
  const std::vector<std::string> words = {"run", "--env", "shell",    "--project",
                                          App(), "true",  "--dry-run"};
  EXPECT_THAT(Run(words).out,
              AllOf(HasSubstr("  hide       /project/.env (variables of a program, passwords among "
                              "them)\n"),
                    HasSubstr("  hide       /project/.git/config (reads without a password or a "
                              "token in an address or a header of git)\n"),
                    Not(HasSubstr(".env.example")), Not(HasSubstr("hunter3"))));
  auto as_json = words;
  as_json.emplace_back("--json");
  const json::value plan = json::parse(Run(as_json).out);
  std::set<std::string> hidden;
  for (const json::value& step : plan.at("run").as_array()) {
    if (step.at("op") == "hide") hidden.emplace(step.at("target").as_string());
  }
  EXPECT_EQ(hidden, (std::set<std::string>{"/project/.env", "/project/.git/config",
                                           "/project/config/id_rsa"}));
  Configure("hide = ['*.py']\n");
  EXPECT_THAT(Run({"env", "show", "shell"}).out,
              AllOf(HasSubstr("hidden       *.py  (the configuration hides it)\n"),
                    HasSubstr("hidden       .netrc  (passwords for servers)\n")));
}

TEST_F(HiddenFiles, AreNotReadInAShellOfAPerson) {
  Configure("mode = 'readwrite'\n");
  Terminal shell(BinDirectory() + "/igloo",
                 {"shell", "--env", "shell", "--project", App(), "--config", Path(kUsual)});
  ASSERT_TRUE(shell.WaitForOutput("[igloo shell] ")) << shell.output();
  shell.Type("cat /project/.e''nv; cat /project/ma''in.py; exit\r");
  shell.Finish();
  EXPECT_THAT(shell.output(), AllOf(HasSubstr("/project/.env: Permission denied"),
                                    HasSubstr("print('hello')"), Not(HasSubstr("hunter3"))));
}

TEST_F(HiddenFiles, AreNotReadThroughAServer) {
  for (const std::string mode : {"readonly", "overlay", "readwrite"}) {
    Configure("mode = '" + mode + "'\n");
    McpClient client({.args = {"mcp", "--config", Path(kUsual)}});
    client.Initialize();
    const auto run = [&](const std::string& code, JsonObject arguments = {}) {
      arguments["env"] = "shell";
      arguments["code"] = code;
      return TextOf(client.Call(mode == "readwrite" ? "run_connected" : "run", arguments));
    };
    const std::string code = "cat /project/.env; cat /project/main.py";
    const auto refused =
        AllOf(HasSubstr("Permission denied"), HasSubstr("hello"), Not(HasSubstr("hunter3")));
    // The first is a cold run; later ones may be of interpreters that waited.
    for (int i = 0; i < 4; ++i) EXPECT_THAT(run(code), refused) << mode;
    EXPECT_THAT(run(code, {{"session", "s"}}), refused) << mode;
    // What comes later is hidden from what begins later.
    Write("app/.env.late", kSecret);
    for (int i = 0; i < 3; ++i) {
      EXPECT_THAT(run("cat /project/.env.late; cat /project/main.py"), refused) << mode;
    }
    fs::remove(Path("app/.env.late"));
  }
}

TEST_F(HiddenFiles, MayBeManyAndThenTooMany) {
  const auto write = [&](const std::string& name) {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << kSecret;
  };
  for (int i = 0; i < 500; ++i) write("app/many/" + std::to_string(i) + "/.env");
  for (const std::string mode : {":ro", ":overlay"}) {
    const Outcome outcome = Shell(
        "cat /project/many/*/.env 2>&1 | sort | uniq -c | wc -l; cat /project/many/*/.env "
        "2>/dev/null; true",
        {"--project", App() + mode});
    EXPECT_EQ(outcome.out, "500\n") << outcome.err;
  }
  for (int i = 0; i < 4000; ++i) {
    write("app/many/" + std::to_string(i % 500) + "/.env." + std::to_string(i));
  }
  const Outcome outcome = Shell("true", {"--project", App()});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("has more than 4096 secrets to hide"), HasSubstr("--show-hidden")));
  EXPECT_EQ(Shell("true", {"--project", App(), "--show-hidden", "many/**"}).status, 0);
}

}  // namespace
}  // namespace igloo::testing
