// A fork goes on while its memory is still brought from an image of the original. What the
// original's code learns or does from then on must not come along: an attacker stamps the image
// with the time, as fast as it can, and no stamp that a fork finds may be younger than itself.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "support/host.h"
#include "support/interpreters.h"

namespace igloo::testing {
namespace {

using From = Interpreters::From;

/// `place` lies where a fork's memory comes last. `run` starts machine code in a process that has
/// the same memory as its parent; `stamping` is code that writes the time there for ever.
constexpr const char* kTools = R"py(
import ctypes, mmap, os, signal, struct, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.clone.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
size = 160 << 20
at = libc.mmap(None, size, 3, 0x22, -1, 0)
ctypes.memset(at, 1, size - 65536)
place = at + size - 8192
open("/workspace/original", "w").close()
def is_original(): return os.path.exists("/workspace/original")
def machine(code):
    if code[-1:] != b"\xc3": code += b"\xeb" + (254 - len(code)).to_bytes(1, "little")  # from the beginning
    page = mmap.mmap(-1, 65536, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
    page[:len(code)] = code
    return page
def stamp_at(place): return machine(b"\xb8\xe4\0\0\0\xbf\1\0\0\0\x48\xbe" + place.to_bytes(8, "little") + b"\x0f\x05")
stamping = stamp_at(place)
def run(page):
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return libc.clone(start, start + 65536, 0x100 | 17, None)
def time_in(stamp):
    seconds, rest = struct.unpack("qq", stamp)
    return seconds * 10**9 + rest
def look_at(pid):
    """Whether what it has is younger than this question; until it has come true."""
    begun = time.monotonic_ns()
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for _ in range(2000):
            memory.seek(place)
            if time_in(memory.read(16)) > begun: return "reached"
            time.sleep(0.001)
    return "held"
def hold_still():
    if child := os.fork(): return child
    while True: signal.pause()
def wins():
    child = hold_still()
    try: return look_at(child)
    finally:
        os.kill(child, 9); os.waitpid(child, 0)
def hunt(reach):
    """Does it to everybody who comes."""
    known = set(os.listdir("/proc"))
    if os.fork(): return
    known.add(str(os.getpid()))
    while True:
        for name in set(os.listdir("/proc")) - known: reach(int(name))
)py";

/// The image has all memory in common with the session, which waits in machine code until the image
/// is gone. The fork looks as soon as it goes on.
constexpr const char* kShared = R"py(
run(stamping)
code = machine(b"\xb8\x38\0\0\0\xbf\x11\1\0\0\x31\xf6\x31\xd2\x4d\x31\xd2\x4d\x31\xc0\x0f\x05\x85\xc0\x74\x17"
               b"\x49\x89\xc0\x48\x89\xc7\xb8\x3d\0\0\0\x31\xf6\x31\xd2\x4d\x31\xd2\x0f\x05\x4c\x89\xc0\xc3")
share = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
def fork():
    global reached
    child = share()
    if child == 0:
        now = time.monotonic_ns()
        reached = time_in(ctypes.string_at(place, 16)) > now
    return child
os.fork = fork
)py";

/// Its pages are the file's until they are written to.
constexpr const char* kFile = R"py(
file = open("/workspace/file", "w+b", 0)
file.truncate(16 << 20)
mapped = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE)
place = ctypes.addressof(ctypes.c_char.from_buffer(mapped)) + (12 << 20)
if os.fork() == 0:
    stamp = ctypes.create_string_buffer(16)
    while True:
        libc.clock_gettime(1, stamp)
        os.pwrite(file.fileno(), stamp.raw, 12 << 20)
)py";

struct SnapshotCase {
  std::string name = {};
  std::string attack = {};  ///< in the session, before it is forked
  /// In the session: whether the attack wins between processes that a plain fork() made.
  std::string control = "print(wins())";
  /// In a fork that has gone on before the time NOW: whether it is out of reach.
  std::string look = "print(time_in(ctypes.string_at(place, 16)) < NOW)";
};

void PrintTo(const SnapshotCase& attack, std::ostream* out) { *out << attack.name; }

std::vector<SnapshotCase> Cases() {
  const std::string twin =
      "os.register_at_fork(after_in_child=lambda: is_original() and run(stamping))\n";
  return {
      // A process that has the image's memory, made in the image before that one holds still.
      {"Twin", twin},
      // It goes on when it is told to, or does what its handlers say.
      {"TwinAndSignals",
       twin +
           "signal.signal(signal.SIGUSR1, lambda *_: None)\n"
           "hunt(lambda pid: [libc.kill(pid, each) for each in (signal.SIGCONT, signal.SIGUSR1)])"},
      // Memory that the image and the session share as they would without a fork.
      {"SharedMapping",
       "shared = mmap.mmap(-1, 16 << 20)\n"
       "place = ctypes.addressof(ctypes.c_char.from_buffer(shared)) + (12 << 20)\n"
       "code = stamp_at(place); run(code)",
       "print(look_at(os.getpid()))"},
      {"PrivateMappingOfAFile", kFile, "print(look_at(os.getpid()))"},
      {"SharedWithTheSession", kShared, "print(look_at(os.getpid()))", "print(not reached)"},
  };
}

class Snapshot : public ::testing::Test {
 protected:
  void Begin(const std::string& code) {
    parent_ = bench_.Open(From::kCheckpoint);
    ASSERT_TRUE(parent_) << bench_.error();
    ASSERT_EQ(bench_.Say(*parent_, kTools + code + "\nNone"), "");
  }

  Interpreters bench_{"python"};
  std::unique_ptr<session::Interpreter> parent_;
};

class SnapshotAttack : public Snapshot, public ::testing::WithParamInterface<SnapshotCase> {};

TEST_P(SnapshotAttack, ReachesNoForkThatGoesOn) {
  ASSERT_NO_FATAL_FAILURE(Begin(GetParam().attack));
  ASSERT_EQ(bench_.Say(*parent_, GetParam().control), "reached\n") << "control";
  for (int i = 0; i < 5; ++i) {
    const auto fork = bench_.Fork(*parent_);
    ASSERT_TRUE(fork) << bench_.error();
    std::string look = GetParam().look;
    if (const auto at = look.find("NOW"); at != look.npos) {
      look.replace(at, 3, std::to_string(MonotonicMicros()) + "000");
    }
    EXPECT_EQ(bench_.Say(*fork, look), "True\n");
  }
}

std::string NameOf(const ::testing::TestParamInfo<SnapshotCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Original, SnapshotAttack, ::testing::ValuesIn(Cases()), NameOf);

/// What forks have while memory is brought to them, and only then.
bool SomebodyIsBroughtMemory() {
  const auto keeps = [](const ProcessInfo& each) { return each.name == "igloo-holder"; };
  return std::ranges::any_of(DescendantsOf(::getpid()), keeps);
}

/// Others get all of it before they go on.
bool MemoryComesLater() {
  return ::geteuid() == 0 && ::access("/dev/userfaultfd", R_OK | W_OK) == 0;
}

constexpr const char* kReader = R"py(
seen, saw = os.pipe()
os.set_blocking(seen, False)
def read(pid):
    try: open(f"/proc/{pid}/mem", "rb").close()
    except OSError: return
    os.write(saw, b"x")
hunt(read)
def has_seen():
    try: return len(os.read(seen, 1)) > 0
    except BlockingIOError: return False
)py";

/// The second wall, where a kernel has no Landlock that keeps everybody from writing below /proc.
TEST_F(Snapshot, IsClosedToEverybody) {
  ASSERT_NO_FATAL_FAILURE(Begin(kReader));
  const auto fork = bench_.Fork(*parent_);
  ASSERT_TRUE(fork) << bench_.error();
  // This waits until the image is gone.
  const std::string seen = bench_.Say(*parent_, "print(has_seen())");
  if (MemoryComesLater()) EXPECT_EQ(seen, "False\n");
  EXPECT_EQ(bench_.Say(*parent_, R"py(
child = hold_still()
while not has_seen(): time.sleep(0.001)
os.kill(child, 9); os.waitpid(child, 0)
)py"),
            "")
      << "control";
}

/// Code of the session's own has the driver's doors, too.
TEST_F(Snapshot, ThatIsOpenIsCopiedBeforeItsForkGoesOn) {
  ASSERT_NO_FATAL_FAILURE(Begin(
      "display.__self__.control.fork.__func__.__globals__['born_closed'] = lambda make: make()"));
  const auto fork = bench_.Fork(*parent_);
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_FALSE(SomebodyIsBroughtMemory());
  EXPECT_EQ(
      bench_.Say(*fork, "print(ctypes.string_at(at + size - 131072, 65536) == b'\\1' * 65536)"),
      "True\n");
}

}  // namespace
}  // namespace igloo::testing
