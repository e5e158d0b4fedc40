// Changes to a copy-on-write project: kept, shown, applied and given up.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/running.h"
#include "support/terminal.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class Changes : public ::testing::Test {
 protected:
  Changes() { fs::create_directory(project_); }

  Outcome Call(std::vector<std::string> args) const {
    Invocation invocation{.program = BinDirectory() + "/igloo", .args = std::move(args)};
    invocation.env.push_back("XDG_STATE_HOME=" + directory_.path() + "/state");
    return RunProgram(invocation);
  }
  /// Runs code in a copy of the project; what it changed is called `name`.
  Outcome Run(const std::string& code, const std::string& name = "work",
              const std::string& env = "shell") const {
    return Call({"run", "--env", env, "--project", project_ + ":overlay", "--keep", name, code});
  }
  void Write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(project_ + "/" + path).parent_path());
    std::ofstream(project_ + "/" + path, std::ios::binary) << text;
  }
  std::string Read(const std::string& path) const {
    return ReadFile(project_ + "/" + path, 1U << 20).value_or("(nothing)");
  }
  std::string Layer() const { return directory_.path() + "/state/igloo/changes/work/layer/upper"; }

  TempDir directory_ = TempDir::Make(TempParent()).value();
  std::string project_ = directory_.path() + "/project";
};

TEST_F(Changes, AreKeptWhileTheProjectStaysAsItIs) {
  Write("file", "one\n");
  Write("gone", "something\n");
  Write("dir/a", "a\n");
  const auto before = SnapshotOf(project_);
  const Outcome run =
      Run("set -e; cd /project; echo two > file; rm gone; rm -r dir; mkdir dir; echo b > dir/b; "
          "echo new > new; chmod 755 new; ln -s file link");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("igloo changes show work"));
  EXPECT_EQ(SnapshotOf(project_), before);
  // They lie on the host as files of whoever started igloo, whatever id the sandbox had.
  struct stat info{};
  ASSERT_EQ(::lstat((Layer() + "/new").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, ::geteuid());
  EXPECT_EQ(info.st_mode & 0777U, 0755U);
  EXPECT_EQ(ReadFile(Layer() + "/file", 100).value_or(""), "two\n");
  ASSERT_EQ(::lstat((Layer() + "/gone").c_str(), &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode)) << "a whiteout";

  EXPECT_EQ(Call({"changes", "show", "work"}).out,
            "D dir/a\nA dir/b\nM file\nD gone\nA link  (a link to file)\nA new\n");
  EXPECT_THAT(Call({"changes", "list"}).out, AllOf(HasSubstr("work  ready"), HasSubstr(project_)));
}

TEST_F(Changes, AreAppliedAndThenTheProjectIsWhatTheCodeSaw) {
  Write("file", "one\n");
  Write("dir/a", "a\n");
  const std::string list =
      "cd /project && find . | sort && stat -c '%n %a' file new && cat file new dir/*";
  const Outcome run =
      Run("cd /project; echo two > file; echo new > new; chmod 700 new; mkdir -p deep/er; "
          "echo x > deep/er/x; mv dir/a dir/b; " +
          list);
  ASSERT_EQ(run.status, 0) << run.err;
  const Outcome apply = Call({"apply", "work"});
  EXPECT_EQ(apply.status, 0) << apply.err;
  const Outcome seen = Call({"run", "--env", "shell", "--project", project_, list});
  EXPECT_EQ(seen.out, run.out);
  EXPECT_THAT(Call({"changes", "list"}).out, HasSubstr("applied"));
  EXPECT_EQ(Call({"discard", "work"}).out, "discarded work\n");
  EXPECT_THAT(Call({"changes", "list"}).out, HasSubstr("there are no changes"));
  EXPECT_FALSE(fs::exists(Layer()));
}

TEST_F(Changes, ThatMeetTheHostsAreConflictsWithAHint) {
  Write("file", "one\n");
  ASSERT_EQ(Run("echo inside > /project/file").status, 0);
  Write("file", "host\n");
  const Outcome apply = Call({"apply", "work"});
  EXPECT_EQ(apply.status, 1);
  EXPECT_THAT(apply.err, AllOf(HasSubstr("conflict: file"), HasSubstr("hint: these stayed")));
  EXPECT_EQ(Read("file"), "host\n");
  EXPECT_THAT(Call({"apply", "work", "--json"}).out,
              HasSubstr("\"conflicts\":[{\"path\":\"file\""));
}

TEST_F(Changes, OfTwoRunsAtOnceDoNotMeet) {
  Write("file", "one\n");
  ASSERT_EQ(Run("echo first > /project/file", "first").status, 0);
  EXPECT_EQ(Run("cat /project/file; echo x > /project/other", "second").out, "one\n");
  EXPECT_EQ(Call({"apply", "first"}).status, 0);
  EXPECT_EQ(Call({"apply", "second"}).status, 0);
  EXPECT_EQ(Read("file"), "first\n");
  EXPECT_EQ(Read("other"), "x\n");
}

TEST_F(Changes, CommitsArriveAsABranch) {
  Write("file", "one\n");
  const std::string git = "git -c user.name=a -c user.email=a@b ";
  ASSERT_EQ(std::system(("cd '" + project_ + "' && git init -q -b main && git add -A && " + git +
                         "commit -qm base")
                            .c_str()),
            0);
  const Outcome run = Run("cd /project && git status --short && echo two > file && " + git +
                          "commit -qam second && git log --format=%s");
  EXPECT_EQ(run.out, "second\nbase\n") << run.err;
  EXPECT_THAT(Call({"changes", "show", "work"}).out,
              AllOf(HasSubstr("M file"), HasSubstr("to arrive as branch igloo/work")));
  const Outcome apply = Call({"apply", "work"});
  EXPECT_EQ(apply.status, 0) << apply.err;
  EXPECT_EQ(apply.out, "applied file\nbranch igloo/work\n");
  EXPECT_EQ(
      std::system(
          ("cd '" + project_ +
           "' && test \"$(git log --format=%s igloo/work | tr '\\n' ' ')\" = 'second base ' && "
           "test \"$(git rev-parse --abbrev-ref HEAD)\" = main && git diff --quiet igloo/work -- "
           "file")
              .c_str()),
      0);
}

/// A repository beside the project, which is one of its work trees or has it as a submodule.
class ChangesElsewhere : public Changes, public ::testing::WithParamInterface<const char*> {
 protected:
  ChangesElsewhere() {
    fs::remove(project_);
    const std::string main = directory_.path() + "/main";
    fs::create_directory(main);
    EXPECT_EQ(Shell(main,
                    "git init -q -b main && echo one >file && echo 1 >other && git add -A && "
                    "git commit -qm base && " +
                        std::string(GetParam())),
              0);
    project_ = fs::canonical(project_).string();
  }
  int Shell(const std::string& where, const std::string& script) const {
    const std::string name =
        "git() { command git -c user.name=a -c user.email=a@b "
        "-c protocol.file.allow=always \"$@\"; }; ";
    const std::string words =
        "cd '" + where + "' && " + name + "PROJECT='" + project_ + "' && " + script;
    const Outcome outcome =
        RunProgram({.program = "/bin/bash", .args = {"-c", words}, .env = UsualVariables()});
    if (outcome.status != 0) std::fprintf(stderr, "%s%s", outcome.out.c_str(), outcome.err.c_str());
    return outcome.status;
  }
  std::string Repository() const {
    std::string line = Read(".git").substr(std::string_view("gitdir: ").size());
    line.pop_back();
    const fs::path own = fs::path(project_) / line;
    return fs::canonical(fs::exists(own / "commondir") ? own / "../.." : own).string();
  }
};

TEST_P(ChangesElsewhere, CommitsArriveAsABranchAndFilesAreMerged) {
  const auto repository = SnapshotOf(Repository());
  const std::string git = "git -c user.name=a -c user.email=a@b ";
  const Outcome run = Run(
      "cd /project && git status --short && echo two > file && echo new > new && git add new && " +
      git + "commit -qam second && git checkout -q -b side && " + git +
      "commit -q --allow-empty -m third && git log --format=%s");
  EXPECT_EQ(run.out, "third\nsecond\nbase\n") << run.err;
  EXPECT_EQ(SnapshotOf(Repository()), repository) << "nothing of the host's changes";
  EXPECT_EQ(Read("file"), "one\n");
  // The host works on meanwhile: one file of its own, and one that meets the box's.
  Write("other", "host\n");
  const Outcome apply = Call({"apply", "work"});
  EXPECT_EQ(apply.status, 0) << apply.err;
  EXPECT_EQ(apply.out, "applied file\napplied new\nbranch igloo/work.main\nbranch igloo/work\n");
  EXPECT_EQ(Read("file"), "two\n");
  EXPECT_EQ(Read("other"), "host\n");
  EXPECT_EQ(
      Shell(project_,
            "test \"$(git log --format=%s igloo/work | tr '\\n' ' ')\" = 'third second base ' && "
            "git fsck --strict --no-dangling && git diff --quiet igloo/work -- file"),
      0);
}

TEST_P(ChangesElsewhere, AHostThatChangedTheSameFileIsAConflict) {
  ASSERT_EQ(Run("cd /project && echo inside > file && echo inside > other").status, 0);
  Write("file", "host\n");
  const Outcome apply = Call({"apply", "work"});
  EXPECT_EQ(apply.status, 1);
  EXPECT_THAT(apply.err, HasSubstr("conflict: file"));
  EXPECT_EQ(Read("file"), "host\n");
  EXPECT_EQ(Read("other"), "inside\n");
}

TEST_P(ChangesElsewhere, NothingOfTheCopysRepositoryIsObeyed) {
  const std::string ran = directory_.path() + "/ran", repository = Repository();
  const auto hooks = SnapshotOf(repository + "/hooks");
  const std::string config = ReadFile(repository + "/config", 1U << 20).value_or("");
  const Outcome run =
      Run("cd /project && d=$(git rev-parse --git-common-dir) && g=$(git rev-parse --git-dir) && "
          "git config core.fsmonitor 'touch " +
          ran + "' && echo 'touch " + ran +
          "' >$d/hooks/reference-transaction && chmod +x $d/hooks/reference-transaction && "
          "echo two > file && git -c core.fsmonitor= -c core.hooksPath=/none -c user.name=a "
          "-c user.email=a@b commit -qam x && echo /nowhere >$d/objects/info/alternates; "
          "echo 'gitdir: /etc' >.git; echo made");
  EXPECT_EQ(run.out, "made\n") << run.err;
  const Outcome apply = Call({"apply", "work"});
  EXPECT_THAT(apply.out, HasSubstr("branch igloo/work")) << apply.err;
  EXPECT_EQ(SnapshotOf(repository + "/hooks"), hooks);
  EXPECT_EQ(ReadFile(repository + "/config", 1U << 20).value_or(""), config);
  EXPECT_EQ(Shell(project_, "git status && git log -1 igloo/work"), 0) << "its .git is as it was";
  EXPECT_FALSE(fs::exists(ran));
}

TEST_P(ChangesElsewhere, AWorkTreeThatLeadsElsewhereByNowGetsNoCommits) {
  const std::string git = "git -c user.name=a -c user.email=a@b ";
  ASSERT_EQ(Run("cd /project && " + git + "commit -q --allow-empty -m x").status, 0);
  Write(".git", "gitdir: /etc\n");
  const Outcome apply = Call({"apply", "work"});
  EXPECT_NE(apply.status, 0);
  EXPECT_THAT(apply.err, HasSubstr("no longer a work tree"));
}

INSTANTIATE_TEST_SUITE_P(
    All, ChangesElsewhere,
    ::testing::Values("git worktree add -q -b other \"$PROJECT\" && git branch -m main old && "
                      "git -C \"$PROJECT\" branch -m main",
                      "git worktree add -q -b other \"$PROJECT\" && git branch -m main old && "
                      "git -C \"$PROJECT\" branch -m main && "
                      "echo 'gitdir: ../main/.git/worktrees/project' >\"$PROJECT/.git\""),
    [](const auto& each) { return each.index == 0 ? "ByAWholePath" : "ByARelativePath"; });

TEST_F(Changes, OfASubmoduleAreKeptOnlyAtItsOwnPath) {
  const std::string git = "git -c user.name=a -c user.email=a@b -c protocol.file.allow=always ";
  ASSERT_EQ(std::system(("cd '" + directory_.path() + "' && git init -q origin && cd origin && " +
                         git + "commit -q --allow-empty -m x && cd '" + project_ +
                         "' && git init -q && " + git + "submodule --quiet add ../origin sub")
                            .c_str()),
            0);
  const Outcome run = Call(
      {"run", "--env", "shell", "--project", project_ + "/sub:overlay", "--keep", "work", "true"});
  EXPECT_EQ(run.status, 125);
  EXPECT_THAT(run.err, AllOf(HasSubstr("is a submodule"), HasSubstr("--propose")));
  EXPECT_THAT(Call({"changes", "list"}).out, HasSubstr("there are no changes"));
}

TEST_F(Changes, OfAGitFileThatLeadsToWhatDoesNotKnowItAreRefused) {
  Write(".git", "gitdir: /etc\n");
  const Outcome run = Run("true");
  EXPECT_EQ(run.status, 125);
  EXPECT_THAT(run.err, HasSubstr("no repository that knows this work tree"));
  fs::remove(project_ + "/.git");
  fs::create_symlink("/etc", project_ + "/.git");
  EXPECT_THAT(Run("true").err, HasSubstr("is a symbolic link"));
  EXPECT_THAT(Call({"changes", "list"}).out, HasSubstr("there are no changes"));
}

TEST_F(Changes, APatchIsWhatGitTakes) {
  Write("file", "one\ntwo\n");
  ASSERT_EQ(Run("cd /project; echo three >> file; printf 'a\\0b' > binary").status, 0);
  EXPECT_THAT(Call({"changes", "show", "work", "--stat"}).out,
              HasSubstr("2 changed, 1 lines added, 0 removed"));
  const Outcome show = Call({"changes", "show", "work", "--patch"});
  EXPECT_EQ(show.status, 0) << show.err;
  std::ofstream(directory_.path() + "/patch") << show.out;
  EXPECT_EQ(std::system(("cd '" + project_ + "' && git init -q . && git apply ../patch").c_str()),
            0);
  EXPECT_EQ(Read("file"), "one\ntwo\nthree\n");
  EXPECT_EQ(Read("binary"), std::string("a\0b", 3));
}

TEST_F(Changes, AreChosenHunkByHunkAtATerminal) {
  std::string lines;
  for (int i = 1; i <= 30; ++i) lines += std::to_string(i) + "\n";
  Write("file", lines);
  ASSERT_EQ(Run("sed -i 's/^3$/first/; s/^25$/second/' /project/file").status, 0);
  Terminal terminal("/usr/bin/env", {"XDG_STATE_HOME=" + directory_.path() + "/state",
                                     BinDirectory() + "/igloo", "apply", "work", "--interactive"});
  ASSERT_TRUE(terminal.WaitForOutput("(1/2) Apply this hunk [y,n,a,d,q,?]?")) << terminal.output();
  terminal.Type("n\n");
  ASSERT_TRUE(terminal.WaitForOutput("(2/2) Apply this hunk [y,n,a,d,q,?]?"));
  terminal.Type("y\n");
  EXPECT_EQ(terminal.Finish(), 0) << terminal.output();
  EXPECT_THAT(Read("file"), AllOf(HasSubstr("second"), Not(HasSubstr("first"))));
  const Outcome without = Call({"apply", "work", "--interactive"});
  EXPECT_EQ(without.status, 125);
  EXPECT_THAT(without.err, HasSubstr("asks a person at a terminal"));
}

TEST_F(Changes, AreRefusedWhereTheyCannotBeKept) {
  const auto refused = [&](std::vector<std::string> more, const std::string& why) {
    std::vector<std::string> args = {"run", "--env", "shell"};
    args.insert(args.end(), more.begin(), more.end());
    args.push_back("true");
    const Outcome outcome = Call(args);
    EXPECT_EQ(outcome.status, 125) << why;
    EXPECT_THAT(outcome.err, HasSubstr(why));
  };
  refused({"--keep", "x"}, "name one: --project DIR:overlay");
  refused({"--keep", "x", "--project", project_}, "name one: --project DIR:overlay");
  refused({"--keep", "../x", "--project", project_ + ":overlay"}, "is not a name for changes");
  refused({"--keep", "x", "--project", project_ + ":overlay", "--dry-run"}, "--dry-run does not");
  refused({"--keep", "x", "--project", project_ + ":overlay", "--backend", "bubblewrap"},
          "cannot show a project copy-on-write");
  ASSERT_EQ(Run("true").status, 0);
  refused({"--keep", "work", "--project", project_ + ":overlay"}, "called 'work' already");
  EXPECT_EQ(Call({"discard", "none"}).status, 125);
  EXPECT_EQ(Call({"changes", "list", "--names"}).out, "work\n") << "what was refused left nothing";
}

/// All that code can write into the layer, seen from outside.
TEST_F(Changes, HostileOnesLeadNowhere) {
  std::ofstream(directory_.path() + "/secret") << "secret";
  Write("file", "one\n");
  Write("sub/file", "two\n");
  const std::string secret = directory_.path() + "/secret";
  const std::string code =
      "import os, stat\n"
      "os.chdir('/project')\n"
      "os.symlink('" +
      secret +
      "', 'link'); os.symlink('/', 'root'); os.symlink('.git', 'git')\n"
      "os.mkfifo('pipe'); os.link('file', 'hard'); os.mkdir('new\\nline')\n"
      "open('new\\nline/x', 'w').write('x')\n"
      "os.rename('sub/file', 'moved'); os.rmdir('sub'); os.symlink('" +
      directory_.path() +
      "', 'sub')\n"
      "def tried(f):\n"
      "  try: f(); return 'made'\n"
      "  except OSError as e: return 'held'\n"
      "print(tried(lambda: os.mknod('whiteout', stat.S_IFCHR | 0o600, os.makedev(0, 0))),\n"
      "      tried(lambda: os.mknod('disk', stat.S_IFBLK | 0o600, os.makedev(8, 0))),\n"
      "      tried(lambda: os.chmod('file', 0o4755)))\n"
      "for name in ('opaque', 'redirect', 'metacopy', 'whiteout'):\n"
      "  tried(lambda: os.setxattr('moved', 'user.overlay.' + name, b'y'))\n";
  const Outcome run = Run(code, "work", "python");
  EXPECT_EQ(run.out, "held held held\n") << run.err;
  const Outcome apply = Call({"apply", "work"});
  EXPECT_THAT(apply.err, HasSubstr("pipe cannot be applied"));
  EXPECT_THAT(apply.out, Not(HasSubstr("secret")));
  EXPECT_EQ(apply.status, 1);
  EXPECT_FALSE(fs::is_symlink(project_ + "/git")) << "a link to what git obeys is protected";
  EXPECT_EQ(Call({"apply", "work", "git"}).status, 0);
  for (const char* each : {"link", "root", "git", "sub"}) {
    EXPECT_TRUE(fs::is_symlink(project_ + "/" + each)) << each;
  }
  EXPECT_EQ(Read("new\nline/x"), "x");
  EXPECT_FALSE(fs::exists(project_ + "/pipe"));
  EXPECT_EQ(ReadFile(secret, 100).value_or(""), "secret");
  // A second change set goes through none of them.
  ASSERT_EQ(Run("cd /project; rm sub; mkdir sub; echo evil > sub/secret", "second").status, 0);
  ASSERT_EQ(::unlink((project_ + "/sub").c_str()), 0);
  ASSERT_EQ(::symlink(directory_.path().c_str(), (project_ + "/sub").c_str()), 0);
  EXPECT_EQ(Call({"apply", "second"}).status, 1);
  EXPECT_EQ(ReadFile(secret, 100).value_or(""), "secret");
}

TEST_F(Changes, ToProtectedNamesWaitUntilTheyAreNamed) {
  ASSERT_EQ(Run("cd /project; mkdir .vscode; echo x > .vscode/tasks.json; echo y > fine").status,
            0);
  const Outcome apply = Call({"apply", "work"});
  EXPECT_EQ(apply.status, 0);
  EXPECT_THAT(apply.err, HasSubstr("igloo apply work .vscode/tasks.json"));
  EXPECT_FALSE(fs::exists(project_ + "/.vscode"));
  EXPECT_EQ(Call({"apply", "work", ".vscode"}).status, 0);
  EXPECT_EQ(Read(".vscode/tasks.json"), "x\n");
}

TEST_F(Changes, OfARunThatWasKilledCanStillBeApplied) {
  const Outcome run =
      Call({"run", "--env", "shell", "--timeout", "1", "--project", project_ + ":overlay", "--keep",
            "work", "echo x > /project/file; while :; do :; done"});
  EXPECT_EQ(run.status, 124);
  EXPECT_EQ(Call({"apply", "work"}).status, 0);
  EXPECT_EQ(Read("file"), "x\n");
}

}  // namespace
}  // namespace igloo::testing
