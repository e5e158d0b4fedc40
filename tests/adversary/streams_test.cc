// That a program may open its standard streams again gives it nothing that it did not have.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "attack_case.h"
#include "base/file.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "support/terminal.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Tries to change what is behind standard input: the file that the caller gave. Exit code 42 when
/// anything worked.
constexpr char kChangeInput[] = R"(
import os, sys
won = []
def attempt(name, action):
  try:
    action()
    won.append(name)
  except OSError as error:
    pass
paths = ['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0', '/proc/thread-self/fd/0']
for path in paths:
  for name in ['O_RDWR', 'O_WRONLY', 'O_APPEND']:
    flags = getattr(os, name) | (os.O_WRONLY if name == 'O_APPEND' else 0)
    attempt(f'{path} {name}', lambda: os.write(os.open(path, flags | os.O_NONBLOCK), b'changed'))
  attempt(path + ' truncate', lambda: os.truncate(path, 1))
attempt('ftruncate', lambda: os.ftruncate(0, 1))
attempt('write', lambda: os.write(0, b'changed'))
print(won)
sys.exit(42 if won else 7)
)";

/// Those that act on the pipe's own inode where it is one, and on the caller's file where it is
/// not.
constexpr char kChangeFacts[] = R"(
import os, sys
won = []
for name, action in [('chmod', lambda: os.chmod(0, 0o777)),
                     ('chmod by name', lambda: os.chmod('/proc/self/fd/0', 0o777)),
                     ('utime', lambda: os.utime(0, (1, 1))),
                     ('setxattr', lambda: os.setxattr(0, 'user.igloo', b'x')),
                     ('link', lambda: os.link('/proc/self/fd/0', '/tmp/linked', follow_symlinks=True))]:
  try:
    action()
    won.append(name)
  except OSError as error:
    pass
print(won)
)";

struct Facts {
  std::string content = {};
  mode_t mode = 0;
  nlink_t links = 0;
  timespec modified = {};
  bool operator==(const Facts& other) const {
    return content == other.content && mode == other.mode && links == other.links &&
           modified.tv_sec == other.modified.tv_sec && modified.tv_nsec == other.modified.tv_nsec;
  }
};

/// Input for attacks: a file of the caller's that everybody may write to, so that only the wall can
/// be what holds, and a pipe.
class GivenInput : public ::testing::TestWithParam<Wall> {
 protected:
  GivenInput() {
    std::ofstream(file_) << "the caller's";
    std::filesystem::permissions(file_, std::filesystem::perms(0666));
  }
  Facts Look() const {
    struct stat info{};
    EXPECT_EQ(::stat(file_.c_str(), &info), 0);
    return {ReadFile(file_, 4096).value(), info.st_mode, info.st_nlink, info.st_mtim};
  }
  std::string Igloo() const {
    return ShellQuote(BinDirectory() + "/igloo") + " run --env python --backend " +
           Name(GetParam()) + " ";
  }
  Outcome FromFile(const std::string& command) const {
    return RunProgram({.program = "/bin/sh", .args = {"-c", command + " <" + ShellQuote(file_)}});
  }
  static Outcome FromPipe(const std::string& command) {
    return RunProgram({.program = "/bin/sh", .args = {"-c", command}, .input = "given"});
  }

  TempDir directory_ = TempDir::Make(TempParent()).value();
  std::string file_ = directory_.path() + "/given";
};

constexpr char kPython[] = "/usr/bin/python3 -c ";

TEST_P(GivenInput, AFileDoesNotBecomeWritable) {
  const Facts before = Look();
  const Outcome behind = FromFile(Igloo() + ShellQuote(kChangeInput));
  EXPECT_EQ(behind.status, kHeld) << behind.out << behind.err;
  EXPECT_EQ(Look(), before) << behind.out;
  const Outcome control = FromFile(kPython + ShellQuote(kChangeInput));
  EXPECT_EQ(control.status, kLeaked) << "control: " << control.err;
  EXPECT_FALSE(Look() == before) << "control: " << control.out;
}

TEST_P(GivenInput, NothingElseOfAFileChanges) {
  const Facts before = Look();
  const Outcome behind = FromFile(Igloo() + ShellQuote(kChangeFacts));
  EXPECT_EQ(behind.status, 0) << behind.err;
  EXPECT_EQ(Look(), before) << behind.out;
  const Outcome control = FromFile(kPython + ShellQuote(kChangeFacts));
  EXPECT_THAT(control.out, HasSubstr("chmod")) << "control: " << control.err;
  EXPECT_FALSE(Look() == before) << "control: " << control.out;
}

TEST_P(GivenInput, APipeIsThereForReadingAlone) {
  const Outcome behind = FromPipe(Igloo() + ShellQuote(kChangeInput));
  EXPECT_EQ(behind.status, kHeld) << behind.out << behind.err;
  EXPECT_EQ(FromPipe(kPython + ShellQuote(kChangeInput)).status, kLeaked) << "control";
}

INSTANTIATE_TEST_SUITE_P(Walls, GivenInput, EveryBackend(), WallName);

/// Opens every terminal that has a name: "leaked NAME" for each that it got.
constexpr char kOpenTerminals[] = R"(
import os
names = ['/dev/tty', '/dev/console'] + [f'/dev/pts/{n}' for n in range(256)]
names += ['/proc/self/root' + name for name in names]
names += [f'/proc/{p}/fd/{n}' for p in ['self', '1'] for n in range(64)]
for name in names:
  try: fd = os.open(name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
  except OSError: continue
  if os.isatty(fd): print('leaked', name, flush=True)
  os.close(fd)
print('e' 'nd', flush=True)
)";

TEST(CallersTerminal, IsNotReachedByARunThatIsStartedAtOne) {
  for (const char* backend : {"jail", "bubblewrap"}) {
    Terminal there(BinDirectory() + "/igloo",
                   {"run", "--env", "python", "--backend", backend, kOpenTerminals});
    EXPECT_EQ(there.Finish(), 0) << there.output();
    EXPECT_THAT(there.output(), HasSubstr("end\r\n"));
    EXPECT_THAT(there.output(), Not(HasSubstr("leaked"))) << backend;
  }
  Terminal control("/usr/bin/python3", {"-c", kOpenTerminals});
  EXPECT_EQ(control.Finish(), 0);
  EXPECT_THAT(control.output(), HasSubstr("leaked /dev/tty"));
}

/// A shell has one terminal, igloo's own for it: none of the caller's, and nobody has its.
TEST(CallersTerminal, IsNotReachedByAShellEither) {
  const auto open_to_all = [] {
    int count = 0;
    for (const auto& each : std::filesystem::directory_iterator("/dev/pts")) {
      struct stat info{};
      const bool there = ::stat(each.path().c_str(), &info) == 0;
      if (there && each.path().filename() != "ptmx" && (info.st_mode & 06) != 0) ++count;
    }
    return count;
  };
  const int before = open_to_all();
  Terminal shell(BinDirectory() + "/igloo", {"shell", "--env", "python", "--", "/usr/bin/python3",
                                             "-c", std::string(kOpenTerminals) + "input()\n"});
  ASSERT_TRUE(shell.WaitForOutput("end\r\n")) << shell.output();
  EXPECT_LE(open_to_all(), before) << "a terminal that every user of the host can open";
  EXPECT_THAT(shell.output(), HasSubstr("leaked /proc/self/fd/0\r")) << "control: its own is one";
  EXPECT_THAT(shell.output(), Not(HasSubstr("leaked /dev/")));
  shell.Type("\r");
  EXPECT_EQ(shell.Finish(), 0) << shell.output();
}

}  // namespace
}  // namespace igloo::testing
