// A project's own flake: nothing of it is evaluated before the user said yes to it.

#include <gmock/gmock.h>

#include <filesystem>

#include "support/nix.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class NixProject : public WithNix {
 protected:
  void SetUp() override {
    WithNix::SetUp();
    CountCalls();
    Shell("one");
    Project("use_flake = true\n");
  }
  void Shell(const std::string& text) const {
    WriteFlake("app",
               "{ devShells.${system}.default = derivation { name = \"shell\"; inherit system; "
               "builder = \"/no\"; buildInputs = [ (program \"tool\" \"echo " +
                   text +
                   "\") ]; nativeBuildInputs = [ (program \"other\" \"echo other\") ]; }; }");
  }
  void Project(const std::string& more) const {
    Configure("[project]\npath = \"" + Path("app") + "\"\n" + more);
  }
  Outcome Run(const std::string& code) const { return Igloo({"run", "--env", "project", code}); }
  Outcome Trust() const { return Igloo({"trust", "--flake", Path("app")}); }
};

TEST_F(NixProject, IsNotEvaluatedWithoutAYes) {
  const Outcome run = Run("tool");
  EXPECT_EQ(run.status, 125);
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("is not trusted"), HasSubstr("igloo trust --flake " + Path("app"))));
  EXPECT_THAT(Listed("project"),
              AllOf(HasSubstr("\"available\":false"), HasSubstr("is not trusted")));
  EXPECT_EQ(Igloo({"env", "build"}).status, 125);
  // Trusting the file igloo.toml is another yes.
  Write("app/igloo.toml", "[environments.again]\npreset = \"shell\"\n");
  EXPECT_EQ(Igloo({"trust", Path("app")}).status, 0);
  EXPECT_EQ(Run("tool").status, 125);
  EXPECT_EQ(Calls(), 0) << Read("calls");

  // The control: with a yes it is.
  EXPECT_EQ(Trust().status, 0);
  const Outcome trusted = Run("tool; other; ls /project");
  EXPECT_EQ(trusted.out, "one\nother\nflake.nix\nigloo.toml\n") << trusted.err;
  EXPECT_GT(Calls(), 0);
  EXPECT_THAT(Igloo({"trust", "--list"}).out, HasSubstr(Path("app") + "/flake.nix\n"));
}

TEST_F(NixProject, AChangedFlakeIsUntrustedAgain) {
  EXPECT_EQ(Trust().status, 0);
  EXPECT_EQ(Run("tool").out, "one\n");
  Shell("two");
  const int calls = Calls();
  EXPECT_THAT(Run("tool").err, HasSubstr("has changed since it was trusted"));
  EXPECT_EQ(Calls(), calls);
  EXPECT_EQ(Trust().status, 0);
  EXPECT_EQ(Run("tool").out, "two\n");
  Write("app/flake.lock", "{}");
  EXPECT_THAT(Run("tool").err, HasSubstr("has changed since it was trusted"));
  EXPECT_EQ(Igloo({"trust", "--remove", Path("app")}).status, 0);
  EXPECT_THAT(Run("tool").err, HasSubstr("is not trusted"));
}

TEST_F(NixProject, TheOlderNameOfAShellWorksAndNoneIsSaid) {
  WriteFlake(
      "app",
      R"nix({ devShell.${system} = { buildInputs = [ (program "tool" "echo old") ]; }; })nix");
  EXPECT_EQ(Trust().status, 0);
  const Outcome run = Run("tool");
  EXPECT_EQ(run.out, "old\n") << run.err;
  WriteFlake("app", "{ }");
  EXPECT_EQ(Trust().status, 0);
  EXPECT_THAT(Run("tool").err, HasSubstr("Project flake has no devShell (tried devShells." +
                                         System() + ".default, devShell." + System() + ")"));
  fs::remove(Path("app/flake.nix"));
  EXPECT_THAT(Run("tool").err, HasSubstr("has no flake.nix"));
}

TEST_F(NixProject, AProjectsFileCannotLeadAroundTheYes) {
  Project("");
  WriteFlake("app", R"nix({ packages.${system}.default = program "tool" "echo own"; })nix");
  Write("app/igloo.toml",
        "[environments.own]\nflake = \".\"\n[environments.out]\nflake = \"..\"\n");
  EXPECT_EQ(Igloo({"trust", Path("app")}).status, 0);
  EXPECT_THAT(Igloo({"run", "--env", "own", "tool"}).err, HasSubstr("is not trusted"));
  EXPECT_THAT(Igloo({"run", "--env", "out", "tool"}).err, HasSubstr("outside of the project"));
  EXPECT_EQ(Calls(), 0) << Read("calls");
  EXPECT_EQ(Trust().status, 0);
  const Outcome run = Igloo({"run", "--env", "own", "tool"});
  EXPECT_EQ(run.out, "own\n") << run.err;
  EXPECT_THAT(Igloo({"run", "--env", "out", "tool"}).err, HasSubstr("outside of the project"));
}

TEST_F(NixProject, AddressesLeadToNothingElseOnThisMachine) {
  Project("");
  const std::string app = Path("app");
  fs::create_directories(Path("app/sub"));
  fs::copy_file(Path("app/flake.nix"), Path("app/sub/flake.nix"));
  EXPECT_EQ(Trust().status, 0);
  for (const std::string& address :
       {std::string("./?dir=sub"), "path:" + app + "?dir=sub", "git+file://" + app,
        "hg+file://" + app, "file://" + app, "tarball+file://" + app + "/x.tar", app + "/sub",
        std::string("http://localhost/x.tar")}) {
    Write("app/igloo.toml", "[environments.own]\nflake = \"" + address + "\"\n");
    EXPECT_EQ(Igloo({"trust", app}).status, 0);
    EXPECT_THAT(Igloo({"run", "--env", "own", "tool"}).err, HasSubstr("outside of the project"))
        << address;
  }
  EXPECT_EQ(Calls(), 0) << Read("calls");
}

TEST_F(NixProject, EveryFileThatTheFlakeMayReadIsTrustedOrNotThere) {
  Write("app/nix/name.nix", "\"one\"");
  WriteFlake("app",
             "{ devShell.${system} = { buildInputs = [ (program \"tool\" (\"echo \" + import "
             "./nix/name.nix)) ]; }; }");
  EXPECT_EQ(Trust().status, 0);
  const Outcome run = Run("tool");
  EXPECT_EQ(run.out, "one\n") << run.err;
  Write("app/nix/name.nix", "\"two\"");
  EXPECT_THAT(Run("tool").err, HasSubstr("has changed since it was trusted"));
  EXPECT_THAT(Igloo({"env", "update", "project"}).err, HasSubstr("has changed since"));
  WriteFlake("app",
             "{ x = builtins.readFile ./notes; devShell.${system} = { name = "
             "builtins.readFile ./notes; buildInputs = [ (program (builtins.readFile "
             "./notes) \"echo\") ]; }; }");
  Write("app/notes", "tool");
  EXPECT_EQ(Trust().status, 0);
  EXPECT_THAT(Run("tool").err, HasSubstr("notes"));
}

TEST_F(NixProject, WhatItsGitWouldRunIsNotRun) {
  const std::string app = Path("app");
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"-C", app, "-c", "user.name=x", "-c", "user.email=x"});
    Running run({.program = "/usr/bin/git", .args = std::move(words)});
    return run.Finish().status;
  };
  ASSERT_EQ(git({"init", "-q"}), 0);
  ASSERT_EQ(git({"add", "."}), 0);
  ASSERT_EQ(git({"commit", "-qm", "x"}), 0);
  Write("evil", "#!/bin/sh\ntouch " + Path("ran") + "\n");
  fs::permissions(Path("evil"), fs::perms::owner_all);
  ASSERT_EQ(git({"config", "core.fsmonitor", Path("evil")}), 0);
  EXPECT_EQ(Trust().status, 0);
  const Outcome run = Run("tool");
  EXPECT_EQ(run.out, "one\n") << run.err;
  EXPECT_FALSE(fs::exists(Path("ran")));
  // The control: whoever calls git there runs it.
  git({"status"});
  EXPECT_TRUE(fs::exists(Path("ran")));
}

TEST_F(NixProject, TheNameMayBeTaken) {
  Project("use_flake = true\n[environments.project]\npreset = \"shell\"\n");
  EXPECT_THAT(Run("true").err, HasSubstr("'use_flake' makes the environment 'project'"));
}

}  // namespace
}  // namespace igloo::testing
