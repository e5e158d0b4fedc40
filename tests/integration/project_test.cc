// Projects: which directories may be shown, and that the host's copy never changes.

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "base/unique_fd.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/running.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Project : public ::testing::Test {
 protected:
  /// A directory below the test's own, with one file in it.
  std::string MakeProject(const std::string& name) {
    const std::string path = directory_.path() + "/" + name;
    fs::create_directory(path);
    std::ofstream(path + "/file") << "content of " << name << "\n";
    return path;
  }
  static Outcome Show(const std::string& project, const std::string& code = "cat /project/file") {
    return Igloo({"run", "--env", "shell", "--project", project, code});
  }

  TempDir directory_ = TempDir::Make(TempParent()).value();
};

TEST_F(Project, IsShownReadOnly) {
  const std::string path = MakeProject("plain");
  for (const std::string mode : {"", ":ro", ":readonly"}) {
    const auto before = SnapshotOf(path);
    const Outcome outcome = Show(path + mode,
                                 "cat /project/file; echo x > /project/file || "
                                 "touch /project/new || rm /project/file || echo held");
    EXPECT_EQ(outcome.out, "content of plain\nheld\n") << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("Read-only file system"));
    EXPECT_EQ(SnapshotOf(path), before);
  }
}

TEST_F(Project, IsChangedOnlyInMemoryWithOverlay) {
  const std::string path = MakeProject("layered");
  fs::create_directory(path + "/sub");
  std::ofstream(path + "/sub/deep") << "deep\n";
  const auto before = SnapshotOf(path);
  const Outcome outcome =
      Show(path + ":overlay",
           "set -e; cd /project; echo changed > file; echo new > new; rm -r sub; mkdir sub; "
           "mv new sub/; chmod 600 file; cat file sub/new; ls sub");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "changed\nnew\nnew\n");
  EXPECT_EQ(SnapshotOf(path), before);
  EXPECT_EQ(Show(path + ":overlay").out, "content of layered\n") << "the next run starts anew";
}

TEST_F(Project, OfAnOwnerAloneIsReadByTheSandbox) {
  const std::string path = MakeProject("private");
  ASSERT_EQ(::chmod((path + "/file").c_str(), 0600), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
  for (const std::string mode : {":ro", ":overlay"}) {
    const Outcome outcome = Show(path + mode, "cat /project/file; stat -c '%u %a' /project/file");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "content of private\n1000 600\n") << mode;
  }
}

TEST_F(Project, MayHaveAnyName) {
  for (const std::string name : {"two words", "new\nline", "quote'\"`$(id)", "back\\slash", "a:b",
                                 "a:b:c", "ends:", "\xff\xfe", "*", "#", "ü"}) {
    const std::string path = MakeProject(name);
    for (const std::string mode : {"", ":ro", ":overlay"}) {
      const Outcome outcome = Show(path + mode);
      EXPECT_EQ(outcome.status, 0) << name << mode << ": " << outcome.err;
      EXPECT_EQ(outcome.out, "content of " + name + "\n");
    }
  }
  // A name that looks like a mode needs the mode written out.
  const std::string path = MakeProject("odd:ro");
  EXPECT_EQ(Show(path).status, 125);
  EXPECT_EQ(Show(path + ":ro").out, "content of odd:ro\n");
}

TEST_F(Project, MayBeNamedRelatively) {
  MakeProject("-dash");
  const auto show = [&](const std::string& where, const std::vector<std::string>& flag) {
    std::vector<std::string> args = {"run", "--env", "shell"};
    args.insert(args.end(), flag.begin(), flag.end());
    args.push_back("cat /project/file");
    return RunProgram(IglooAfter("cd " + where, args));
  };
  const std::string& top = directory_.path();
  EXPECT_EQ(show(top, {"--project", "-dash"}).out, "content of -dash\n");
  EXPECT_EQ(show(top, {"--project=-dash:ro"}).out, "content of -dash\n");
  EXPECT_EQ(show(top + "/-dash", {"--project", "."}).out, "content of -dash\n");
  EXPECT_EQ(show(top + "/-dash", {"--project", "../-dash/."}).out, "content of -dash\n");
}

TEST_F(Project, MustBeADirectoryThatIsThere) {
  const std::string path = MakeProject("real");
  fs::create_symlink(path, directory_.path() + "/link");
  struct Wrong {
    std::string project, what;
  };
  for (const Wrong& wrong :
       {Wrong{"", "does not exist"}, Wrong{path + "/missing", "does not exist"},
        Wrong{path + "/file", "is not a directory"}, Wrong{path + "/file/", "is not a directory"},
        Wrong{directory_.path() + "/link", "is a symbolic link"},
        Wrong{directory_.path() + "/link/", "is a symbolic link"}, Wrong{":ro", "does not exist"},
        Wrong{":overlay", "does not exist"}}) {
    const Outcome outcome = Show(wrong.project);
    EXPECT_EQ(outcome.status, 125) << wrong.project;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(wrong.what)) << wrong.project;
  }
}

TEST_F(Project, IsNeverTheRootNorTheHome) {
  const std::string home = MakeProject("home");
  const std::string link = directory_.path() + "/home-link";
  fs::create_symlink(home, link);
  const auto show = [&](const std::string& project, const std::string& home_variable) {
    return RunProgram({.program = BinDirectory() + "/igloo",
                       .args = {"run", "--env", "shell", "--project", project, "cat /project/file"},
                       .env = {"PATH=/usr/bin", "HOME=" + home_variable}});
  };
  EXPECT_EQ(show(home, "/nonexistent").status, 0) << "control: it could be shown";
  for (const std::string& variable : {home, home + "/", home + "/.", link}) {
    for (const std::string mode : {"", "/", "/.", ":overlay"}) {
      const Outcome outcome = show(home + mode, variable);
      EXPECT_EQ(outcome.status, 125) << home + mode << " with HOME=" << variable;
      EXPECT_THAT(outcome.err, HasSubstr("holds far more than a project"));
    }
  }
  for (const std::string root : {"/", "//", "/.", "/usr/..", "/:overlay"}) {
    EXPECT_EQ(show(root, home).status, 125) << root;
  }
}

/// Everything that could trip a program that walks or copies a tree.
void FillWithTraps(const std::string& path) {
  fs::create_symlink("/etc/shadow", path + "/shadow");
  fs::create_symlink("/", path + "/root");
  fs::create_symlink("../../../../../etc/shadow", path + "/upwards");
  fs::create_symlink("loop", path + "/loop");
  fs::create_symlink("pong", path + "/ping");
  fs::create_symlink("ping", path + "/pong");
  fs::create_symlink("/no/such/file", path + "/dangling");
  fs::create_symlink(".", path + "/self");
  ASSERT_EQ(::mkfifo((path + "/fifo").c_str(), 0600), 0);
  const UniqueFd socket_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string place = path + "/socket";
  ASSERT_LT(place.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, place.data(), place.size());
  ASSERT_EQ(::bind(socket_fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const std::string name :
       {"new\nline", "-rf", " ", "\xff\xfe", "quote'\"", "\x1b[31m", "a\\b", "..."}) {
    std::ofstream(path + "/" + name) << name;
  }
  ASSERT_EQ(::chmod((path + "/-rf").c_str(), 0), 0);
  std::string deep = path;
  for (int i = 0; i < 12; ++i) fs::create_directory(deep += "/" + std::string(200, 'd'));
}

TEST_F(Project, FullOfTrapsIsShownAndStaysAsItIs) {
  const std::string path = MakeProject("traps");
  FillWithTraps(path);
  const auto before = SnapshotOf(path);
  ASSERT_GT(before.size(), 25U);
  const std::string code =
      "cd /project; find . -xdev >/dev/null; "
      "cat shadow root/etc/shadow upwards loop dangling 2>/dev/null && echo leaked; "
      "echo x > dangling; echo x > file; echo x >> ./-rf; mkdir made; ln -s / again; "
      "chmod 777 . file; touch file fifo socket; rm -rf ./* ./.??*; mv file other; "
      "find . | head -c 0; cat file 2>/dev/null; echo end";
  const Outcome readonly = Show(path, code);
  EXPECT_EQ(readonly.out, "content of traps\nend\n") << readonly.err;
  EXPECT_EQ(SnapshotOf(path), before);
  const Outcome overlay = Show(path + ":overlay", code);
  EXPECT_EQ(overlay.out, "end\n") << overlay.err;
  EXPECT_EQ(SnapshotOf(path), before);
}

TEST_F(Project, ShowsLinksToTheSandboxNotTheHost) {
  const std::string path = MakeProject("links");
  fs::create_symlink("/etc/passwd", path + "/passwd");
  const Outcome outcome = Show(path, "cat /project/passwd");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("user:x:1000:1000:user:/workspace"));
  EXPECT_NE(outcome.out, ReadProc("/etc/passwd"));
}

TEST_F(Project, IsShownByBubblewrapOrRefused) {
  const std::string path = MakeProject("other wall");
  const Outcome outcome = Igloo(
      {"run", "--env", "shell", "--backend", "bubblewrap", "--project", path, "cat /project/file"});
  if (RunningAsRoot()) {
    EXPECT_EQ(outcome.status, 125);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("bubblewrap cannot give the sandbox's user"),
                                   HasSubstr("--backend jail")));
  } else {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "content of other wall\n");
  }
  const Outcome overlay = Igloo({"run", "--env", "shell", "--backend", "bubblewrap", "--project",
                                 path + ":overlay", "cat /project/file"});
  EXPECT_EQ(overlay.status, 125);
  EXPECT_THAT(overlay.err, HasSubstr("bubblewrap 0.8 cannot show"));
}

}  // namespace
}  // namespace igloo::testing
