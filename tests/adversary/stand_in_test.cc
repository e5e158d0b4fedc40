// Forks of a hostile session: its code answers in its driver's place, makes no child or another
// one, or one that cannot be copied. What it can spoil is the copy.
#include <gmock/gmock.h>
#include <unistd.h>

#include "support/host.h"
#include "support/igloo.h"
#include "support/interpreters.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using From = Interpreters::From;

/// What this process has, which is igloo here, and everything that it started.
struct Holdings {
  std::size_t processes = 0;
  int descriptors = 0;
  bool operator==(const Holdings&) const = default;
  static Holdings Now() { return {DescendantsOf(::getpid()).size(), CountDescriptors(::getpid())}; }
};

void PrintTo(const Holdings& holdings, std::ostream* out) {
  *out << holdings.processes << " processes, " << holdings.descriptors << " descriptors";
}

/// For code that is asked for a child.
constexpr const char* kTools = R"py(
import ctypes, mmap, os, signal, subprocess, threading
fork = os.fork
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
)py";

class HostileStandIn : public ::testing::Test {
 protected:
  HostileStandIn() : bench_("python"), bystander_(bench_.Open(From::kCheckpoint)) {
    if (!bystander_) return;
    bench_.Say(*bystander_, "y = 1");
    // From here on everything is there that stays: the checkpoint, sandboxes made ahead, and as
    // many cgroups as were ever in use at once.
    std::vector<std::unique_ptr<session::Interpreter>> several;
    for (int i = 0; i < 4; ++i) several.push_back(bench_.Fork(*bystander_));
    several.clear();
    Settle();
  }

  /// A session whose driver gets `answer` where it asks for a child to stand in.
  void Begin(const std::string& answer) {
    ASSERT_TRUE(bystander_) << bench_.error();
    session_ = bench_.Open(From::kCheckpoint);
    ASSERT_TRUE(session_) << bench_.error();
    ASSERT_EQ(bench_.Say(*session_, std::string(kTools) + answer + "\nx = 7"), "");
  }

  /// Nothing is left of what was tried, and nobody else noticed.
  void ExpectNothingLeft() {
    session_.reset();
    EXPECT_EQ(bench_.Say(*bystander_, "print(y)"), "1\n");
    Holdings now;
    EXPECT_TRUE(WaitFor([&] {
      bench_.Say(*bystander_, "None");  // lets what has ended come to its end
      now = Holdings::Now();
      return now == before_;
    })) << "now "
        << ::testing::PrintToString(now) << ", before " << ::testing::PrintToString(before_);
    // And others can be forked still.
    EXPECT_TRUE(bench_.Fork(*bystander_)) << bench_.error();
  }

  void ExpectRefused(const std::string& why) {
    EXPECT_FALSE(bench_.Fork(*session_));
    EXPECT_THAT(bench_.error(), HasSubstr(why));
    ExpectNothingLeft();
  }

  Interpreters bench_;
  std::unique_ptr<session::Interpreter> bystander_, session_;

 private:
  void Settle() {
    // Numbers that stay the same for some looks are those of a server at rest.
    int same = 0;
    WaitFor([&] {
      bench_.Say(*bystander_, "None");
      const Holdings now = Holdings::Now();
      same = now == before_ ? same + 1 : 0;
      before_ = now;
      return same == 20;
    });
  }
  Holdings before_ = {};
};

/// Although it is not the driver who makes it.
TEST_F(HostileStandIn, ControlOneThatIsMadeIsCopied) {
  Begin("os.fork = lambda: fork()");
  auto copy = bench_.Fork(*session_);
  ASSERT_TRUE(copy) << bench_.error();
  EXPECT_EQ(bench_.Say(*copy, "print(x)"), "7\n");
  copy.reset();
  ExpectNothingLeft();
}

TEST_F(HostileStandIn, InitItself) {
  Begin("os.fork = lambda: 1");
  ExpectRefused("does not let itself be forked");
}

TEST_F(HostileStandIn, NobodysNumber) {
  Begin("os.fork = lambda: (1 << 22) - 1");
  ExpectRefused("does not let itself be forked");
}

TEST_F(HostileStandIn, NoNumber) {
  Begin("os.fork = lambda: 1 << 70");
  ExpectRefused("does not let itself be forked");
}

/// It is asked to end its stand-in afterwards, and so ends itself.
TEST_F(HostileStandIn, TheInterpreterItself) {
  Begin("os.fork = os.getpid");
  if (const auto fork = bench_.Fork(*session_)) {
    EXPECT_THAT(bench_.Say(*fork, "print(x)"), ::testing::Not("7\n"));
  }
  ExpectNothingLeft();
}

TEST_F(HostileStandIn, ThatIsAnotherProgram) {
  Begin("os.fork = lambda: subprocess.Popen(['cat'], stdin=subprocess.PIPE).pid");
  ExpectRefused("does not let itself be forked");
}

/// The copy is who goes on.
TEST_F(HostileStandIn, ThatNeverComesBack) {
  Begin(R"py(
def busy():
    if child := fork(): return child
    while True: pass
os.fork = busy
)py");
  auto copy = bench_.Fork(*session_);
  ASSERT_TRUE(copy) << bench_.error();
  const auto called = bench_.Call(*copy, "print(x)", 100);
  EXPECT_TRUE(!called || called->verdict == session::Verdict::kTimeout);
  EXPECT_EQ(bench_.Say(*session_, "print(x)"), "7\n");
  copy.reset();
  ExpectNothingLeft();
}

TEST_F(HostileStandIn, ThatIsAThread) {
  Begin(R"py(
def thread():
    made = threading.Thread(target=signal.pause, daemon=True)
    made.start()
    return made.native_id
os.fork = thread
)py");
  ExpectRefused("does not let itself be forked");
}

/// By another thread than the driver's.
TEST_F(HostileStandIn, OfSomebodyElse) {
  Begin(R"py(
def elsewhere():
    made = []
    def make():
        made.append(fork())
        if made[0] == 0: signal.pause()
    thread = threading.Thread(target=make)
    thread.start(); thread.join()
    return made[0]
os.fork = elsewhere
)py");
  EXPECT_FALSE(bench_.Fork(*session_));
  EXPECT_THAT(bench_.error(), HasSubstr("does not let itself be forked"));
  // Nobody watches it any more: it forks as ever.
  EXPECT_EQ(bench_.Say(*session_, R"py(
if fork() == 0: os._exit(5)
print(x, os.waitstatus_to_exitcode(os.wait()[1]))
)py"),
            "7 5\n");
  ExpectNothingLeft();
}

TEST_F(HostileStandIn, ThatIsGoneAlready) {
  Begin("def gone():\n  child = fork(); os.kill(child, 9); return child\nos.fork = gone");
  // It may be killed at any moment, or too late.
  for (int i = 0; i < 10; ++i) {
    const auto copy = bench_.Fork(*session_);
    EXPECT_TRUE(copy || !bench_.error().empty());
  }
  EXPECT_EQ(bench_.Say(*session_, "print(x)"), "7\n");
  ExpectNothingLeft();
}

TEST_F(HostileStandIn, WithTensOfThousandsOfMappings) {
  Begin(R"py(
for i in range(60_000): libc.mmap(None, 4096, i % 2, 0x22, -1, 0)
)py");
  ExpectRefused("mappings");
}

TEST_F(HostileStandIn, WithTerabytesThatNobodyTouched) {
  Begin(R"py(
reserved = libc.mmap(None, 4 << 40, 0, 0x4022, -1, 0)
)py");
  ASSERT_EQ(bench_.Say(*session_, "print(reserved != 2**64 - 1)"), "True\n");
  const auto fork = bench_.Fork(*session_);
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, "print(x)"), "7\n");
}

/// Each of them small enough to be looked through page by page.
TEST_F(HostileStandIn, WithTerabytesInPieces) {
  Begin(R"py(
reserved = [libc.mmap(None, (1 << 30) - 4096 * (1 + i % 2), i % 2, 0x4022, -1, 0) for i in range(1000)]
)py");
  ASSERT_EQ(bench_.Say(*session_, "print(2**64 - 1 in reserved)"), "False\n");
  ExpectRefused("mapped too much memory");
}

/// It has all memory in common with the session, where nobody holds still: least of all machine
/// code that maps and unmaps a megabyte in a loop.
TEST_F(HostileStandIn, WhoseMappingsChangeMeanwhile) {
  Begin(R"py(
place = 0x200000000000
code = (b"\xb8\x09\0\0\0\x48\xbf" + place.to_bytes(8, "little") + b"\xbe\0\0\x10\0\xba\x03\0\0\0\x41\xba\x32\0\0\0"
        b"\x49\xc7\xc0\xff\xff\xff\xff\x45\x31\xc9\x0f\x05\xc6\x07\x01\xb8\x0b\0\0\0\xbe\0\0\x10\0\x0f\x05")
code += b"\xeb" + (256 - len(code) - 2).to_bytes(1, "little")
page = mmap.mmap(-1, 65536, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
page[:len(code)] = code
start = ctypes.addressof(ctypes.c_char.from_buffer(page))
libc.clone.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
libc.clone(start, start + 65536, 0x100 | 17, None)
os.fork = lambda: libc.syscall(56, 0x100 | 17, 0, 0, 0, 0)
)py");
  for (int i = 0; i < 10; ++i) {
    // Either way: the list of mappings is of one moment, their bytes of another.
    const auto fork = bench_.Fork(*session_);
    EXPECT_TRUE(fork || !bench_.error().empty());
  }
  EXPECT_EQ(bench_.Say(*session_, "print(x)"), "7\n");
  ExpectNothingLeft();
}

/// What no driver says ends the session.
TEST_F(HostileStandIn, ThatNobodyAskedFor) {
  Begin("");
  EXPECT_THAT(bench_.Say(*session_, "display.__self__.control.send('standin', 0, {'pid': 77})"),
              ::testing::HasSubstr("said what it may not"));
  EXPECT_FALSE(bench_.Fork(*session_));
  ExpectNothingLeft();
}

/// Pages of a file are nobody's memory until they are written into a copy.
constexpr const char* kFile = R"py(
with open("/workspace/large", "wb") as file:
    for _ in range(100): file.write(os.urandom(1 << 20))
file = open("/workspace/large", "rb")
maps = [mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE) for _ in range(COUNT)]
)py";

TEST_F(HostileStandIn, WhoseCopyNeedsMoreMemoryThanItMayHave) {
  Begin("COUNT = 20" + std::string(kFile));
  EXPECT_FALSE(bench_.Fork(*session_));
  EXPECT_THAT(bench_.error(), HasSubstr("memory"));
  EXPECT_EQ(bench_.Say(*session_, "print(x)"), "7\n");
  ExpectNothingLeft();
}

TEST_F(HostileStandIn, ControlACopyWithinItsMemoryIsMade) {
  Begin("COUNT = 1" + std::string(kFile));
  const auto fork = bench_.Fork(*session_);
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, "print(len(bytes(maps[0])) >> 20)"), "100\n");
}

/// No room for one more process: the session itself must not suffer.
TEST_F(HostileStandIn, ThatCannotBeMade) {
  Begin(R"py(
import resource
soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
resource.setrlimit(resource.RLIMIT_NPROC, (1, hard))
)py");
  EXPECT_FALSE(bench_.Fork(*session_));
  EXPECT_THAT(bench_.error(), HasSubstr("no room for the one more process"));
  EXPECT_EQ(bench_.Say(*session_, "print(x)"), "7\n");
  // Once there is room, it can be forked.
  bench_.Say(*session_, "resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))");
  EXPECT_TRUE(bench_.Fork(*session_)) << bench_.error();
  ExpectNothingLeft();
}

}  // namespace
}  // namespace igloo::testing
