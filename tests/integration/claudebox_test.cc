// claudebox's options, files and variables, through igloo under that name.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Claudebox : public ::testing::Test {
 protected:
  Claudebox() { fs::create_directories(Path("home/project")); }

  std::string Path(const std::string& path) const { return temp_.path() + "/" + path; }
  void Write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(Path(path)).parent_path());
    std::ofstream(Path(path)) << text;
  }

  /// Started in the project, as a user would.
  Outcome Run(std::vector<std::string> args, std::vector<std::string> variables = {},
              const std::string& program = "claudebox") const {
    std::vector<std::string> words = {"-c", "cd \"$0\" && exec \"$@\"", Path("home/project"),
                                      BinDirectory() + "/" + program};
    words.insert(words.end(), args.begin(), args.end());
    variables.insert(variables.end(), {"PATH=/usr/bin:/bin", "HOME=" + Path("home")});
    return RunProgram({.program = "/bin/sh", .args = words, .env = variables});
  }
  Outcome Shell(const std::string& code, std::vector<std::string> more = {},
                std::vector<std::string> variables = {}) const {
    more.insert(more.end(), {"-y", "--shell", "--network", "none", "-c", code});
    return Run(std::move(more), std::move(variables));
  }

  TempDir temp_ = *TempDir::Make(TempParent());
};

TEST_F(Claudebox, HasTheProjectAtItsRealPathAndNothingElseOfTheHome) {
  Write("home/.ssh/id_ed25519", "canary");
  Write("home/other/file", "canary");
  Write("home/project/mine", "of the project");
  const Outcome outcome =
      Shell("pwd; cat mine; echo new > made; cat ~/.ssh/id_ed25519 ~/other/file; exit 3");
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_EQ(outcome.out, fs::canonical(Path("home/project")).string() + "\nof the project");
  EXPECT_TRUE(fs::exists(Path("home/project/made")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("canary")));
}

TEST_F(Claudebox, PassesVariablesThatAreNamedAndNoOther) {
  const Outcome outcome =
      Shell("echo $A-$B-$SECRET-$TMPDIR-$XDG_RUNTIME_DIR", {},
            {"CLAUDEBOX_EXTRA_ENV=A, B", "A=1", "B=2", "SECRET=3", "TMPDIR=/evil"});
  EXPECT_EQ(outcome.out, "1-2--/tmp-/tmp\n") << outcome.err;
}

TEST_F(Claudebox, ReadsItsFilesTheCommandLineLast) {
  fs::create_directories(Path("home/.cache/x"));
  Write("home/.claudebox/config", "# mine\nmount_home = .cache/x\npath_add = /opt/one\n");
  Write("home/.claudebox/env", "FROM_FILE=\"yes please\"\n");
  const Outcome outcome =
      Shell("echo $FROM_FILE; echo $PATH; echo kept > ~/.cache/x/file", {"--path-add", "/opt/two"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("yes please\n"), HasSubstr("/opt/one:/opt/two:")));
  EXPECT_TRUE(fs::exists(Path("home/.cache/x/file"))) << outcome.err;
}

TEST_F(Claudebox, AProjectsFilesCountOnlyWhenTheyAreTrusted) {
  Write("home/project/.claudebox.env", "OF_PROJECT=1\n");
  Outcome outcome = Shell("echo ${OF_PROJECT:-none}");
  EXPECT_EQ(outcome.out, "none\n");
  EXPECT_THAT(outcome.err, HasSubstr("is not trusted"));
  EXPECT_EQ(Run({"trust", "."}, {}, "igloo").status, 0);
  EXPECT_EQ(Shell("echo ${OF_PROJECT:-none}").out, "1\n");
  Write("home/project/.claudebox.env", "OF_PROJECT=2\n");
  outcome = Shell("echo ${OF_PROJECT:-none}");
  EXPECT_EQ(outcome.out, "none\n");
  EXPECT_THAT(outcome.err, HasSubstr("has changed"));
}

TEST_F(Claudebox, TakesProfiles) {
  Write("home/.claudebox/profiles/quiet.json", R"({"env": {"A": "of quiet"}, "network": "none"})");
  EXPECT_EQ(Run({"--list-profiles"}).out, "quiet\n");
  EXPECT_THAT(Run({"--show-profile", "quiet"}).out, HasSubstr("of quiet"));
  EXPECT_EQ(Run({"-y", "--shell", "--profile", "quiet", "-c", "echo $A"}).out, "of quiet\n");
  for (const char* name : {"loud", "../profiles/quiet", ""}) {
    const Outcome outcome = Run({"-y", "--shell", "--profile=" + std::string(name), "-c", ":"});
    EXPECT_EQ(outcome.status, *name == '\0' ? 0 : 1) << name << outcome.err;
  }
}

TEST_F(Claudebox, ShowsWhatTheBoxGetsAndRefusesWithoutATerminal) {
  const Outcome outcome = Run({"--shell"}, {"MY_API_KEY=sk-0123456789abcdef",
                                            "CLAUDEBOX_EXTRA_ENV=MY_API_KEY", "EDITOR=vi"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("Sandbox-generated"), HasSubstr("Host (allowlisted)"),
                                 HasSubstr("Extra (CLAUDEBOX_EXTRA_ENV)"), HasSubstr("--yes or -y"),
                                 HasSubstr("MY_API_KEY=sk-0123...cdef")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("456789")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\x1b"))) << "no colours where there is no terminal";
}

TEST_F(Claudebox, PrintsTheCommandThatStandsForTheBox) {
  const Outcome outcome = Run({"--dry-run", "--shell", "--network", "none"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("bwrap"), HasSubstr("--clearenv"),
                                 HasSubstr(fs::canonical(Path("home/project")).string())));
  EXPECT_TRUE(fs::is_empty(Path("home/project")));
  // In a repository mounts lie below the project, which bwrap would make there.
  fs::create_directories(Path("home/project/.git/hooks"));
  const Outcome repository = Run({"--dry-run", "--shell", "--network", "none"});
  EXPECT_EQ(repository.status, 0);
  EXPECT_THAT(repository.err, AllOf(HasSubstr("no bwrap command stands for it"),
                                    HasSubstr("read-only"), HasSubstr("/.git/hooks")));
}

TEST_F(Claudebox, ChecksWhatItNeeds) {
  const Outcome outcome = Run({"--check"});
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("OK   git"), HasSubstr("FAIL claude"),
                                 HasSubstr("WARN ANTHROPIC_API_KEY"),
                                 HasSubstr("WARN ~/.claudebox (will be created on first run)")));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, ::testing::EndsWith("Some checks failed.\n"));
}

TEST_F(Claudebox, SaysWhatIsMissing) {
  const Outcome outcome = Run({"-y"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("'claude' is not on PATH"), HasSubstr("npm install")));
  EXPECT_EQ(Run({"-y", "--cmd", "no-such-program"}).status, 1);
}

}  // namespace
}  // namespace igloo::testing
