// What is left to a process once it has given everything up. Each attempt is made by a child
// without the walls first, and must succeed there.

#include "image/unpack/confine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "base/replace_file.h"
#include "base/temp_dir.h"
#include "base/unique_fd.h"
#include "support/igloo.h"

namespace igloo::image::unpack {
namespace {

enum class Walls { kNone, kAll };

class ConfineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"source", "target", "other"}) {
      ASSERT_EQ(::mkdir(Path(name).c_str(), 0755), 0);
      ASSERT_TRUE(ReplaceFile(Path(std::string(name) + "/file"), "text"));
    }
    source_.Reset(::open(Path("source").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    target_.Reset(::open(Path("target").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  std::string Path(const std::string& name) const { return temp_.path() + "/" + name; }
  /// Whether a child of its own can do it.
  bool Can(Walls walls, const std::function<bool()>& attempt) const {
    const pid_t child = ::fork();
    if (child == 0) {
      if (walls == Walls::kAll && !Confine(source_.get(), target_.get(), Limits{})) ::_exit(2);
      ::_exit(attempt() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 2) << status;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  void ExpectTaken(const char* what, const std::function<bool()>& attempt) const {
    EXPECT_TRUE(Can(Walls::kNone, attempt)) << what;
    EXPECT_FALSE(Can(Walls::kAll, attempt)) << what;
  }

  TempDir temp_ = TempDir::Make(testing::TempParent()).value();
  UniqueFd source_ = {}, target_ = {};
};

TEST_F(ConfineTest, TheSourceCanBeReadAndTheTargetWritten) {
  EXPECT_TRUE(Can(Walls::kAll, [&] {
    const int in = ::openat(source_.get(), "file", O_RDONLY | O_CLOEXEC);
    char byte = 0;
    return in >= 0 && ::read(in, &byte, 1) == 1 && byte == 't';
  }));
  EXPECT_TRUE(Can(Walls::kAll, [&] {
    const int out = ::openat(target_.get(), "new", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    return out >= 0 && ::write(out, "x", 1) == 1 && ::mkdirat(target_.get(), "d", 0755) == 0 &&
           ::linkat(target_.get(), "new", target_.get(), "d/same", 0) == 0 &&
           ::symlinkat("x", target_.get(), "link") == 0 && ::fchmod(out, 0755) == 0 &&
           ::unlinkat(target_.get(), "new", 0) == 0;
  }));
}

TEST_F(ConfineTest, NothingElseCanBeDone) {
  ExpectTaken("read another file",
              [&] { return ::open(Path("other/file").c_str(), O_RDONLY | O_CLOEXEC) >= 0; });
  ExpectTaken("read a file of the machine",
              [] { return ::open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0; });
  ExpectTaken("write to the source", [&] {
    return ::openat(source_.get(), "more", O_WRONLY | O_CREAT | O_CLOEXEC, 0644) >= 0;
  });
  ExpectTaken("write above the target", [&] {
    const std::string up = "../other/made";
    const bool made = ::mkdirat(target_.get(), up.c_str(), 0755) == 0;
    ::rmdir(Path("other/made").c_str());
    return made;
  });
  ExpectTaken("speak to the network",
              [] { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0; });
  ExpectTaken("speak to a neighbour", [] {
    int pair[2];
    return ::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
  });
  ExpectTaken("start a program", [] {
    char name[] = "true";
    char* const argv[] = {name, nullptr};
    ::execv("/bin/true", argv);  // ends with 0 if it starts
    return false;
  });
  ExpectTaken("make another process", [] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    return child > 0;
  });
  ExpectTaken("make a pipe",
              [&] { return ::mknodat(target_.get(), "pipe", S_IFIFO | 0600, 0) == 0; });
  ExpectTaken("signal others", [] { return ::kill(::getppid(), 0) == 0; });
}

}  // namespace
}  // namespace igloo::image::unpack
