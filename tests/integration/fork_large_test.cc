// Copies of interpreters with much memory. Where the kernel can, they go on before it has come, so
// each of these looks first at what comes last: the far end.

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "support/configured.h"
#include "support/host.h"
#include "support/interpreters.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using From = Interpreters::From;

/// `x` is a block of so many megabytes in which each page is another. `right` looks whether
/// everything is there, the end first; `off` and `n` are where a block lies and how long it is.
std::string Hold(unsigned megabytes) {
  return R"py(
import ctypes, mmap, os, struct, sys, threading, zlib
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = libc.mremap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.madvise.argtypes = libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
P, M = 4096, 1 << 20
def page(i): return struct.pack("<Q", i + 1) * 512
n = )py" +
         std::to_string(megabytes) +
         R"py( * M
at = libc.mmap(None, n, 3, 0x22, -1, 0)  # private memory of nobody's
for i in range(n // P): ctypes.memmove(at + i * P, page(i), P)
def look(address, first, count):
    """Whether these pages lie there, the last one first."""
    return all(ctypes.string_at(address + k * P, P) == page(first + k) for k in reversed(range(count)))
def right(): return look(at, 0, n // P)
def zeros(address, size): return ctypes.string_at(address, size) == bytes(size)
objects = [str(i) * 12 for i in range(100_000)]
def fine(): return objects[-1] == "99999" * 12 and all(o == str(i) * 12 for i, o in enumerate(objects))
)py";
}

class LargeFork : public ::testing::Test {
 protected:
  LargeFork() : bench_("python"), parent_(bench_.Open(From::kCheckpoint)) {}

  std::unique_ptr<session::Interpreter> ForkWith(unsigned megabytes) {
    if (!parent_) return nullptr;
    EXPECT_EQ(bench_.Say(*parent_, Hold(megabytes)), "");
    return bench_.Fork(*parent_);
  }

  Interpreters bench_;
  std::unique_ptr<session::Interpreter> parent_;
};

TEST_F(LargeFork, SeesEveryByte) {
  const auto fork = ForkWith(200);
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, "print(right(), fine())"), "True True\n");
  EXPECT_EQ(bench_.Say(*parent_, "print(right(), fine())"), "True True\n");
}

/// The kernel itself comes to what is not there yet.
TEST_F(LargeFork, SystemCallsSeeEveryByte) {
  const auto fork = ForkWith(64);
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, R"py(
block = (ctypes.c_char * n).from_address(at)
with open("/workspace/tail", "wb", 0) as f: f.write(memoryview(block)[n - M:])
r, w = os.pipe()
os.write(w, memoryview(block)[n // 2:n // 2 + 2 * P])
came = os.read(r, 2 * P)
with open("/workspace/tail", "rb", 0) as f: f.readinto(memoryview(block).cast("B")[M:2 * M])
tail = open("/workspace/tail", "rb").read()
first = (n - M) // P
print(tail == b"".join(page(first + i) for i in range(256)), came == page(n // 2 // P) + page(n // 2 // P + 1))
print(look(at + M, first, 256), look(at, 0, 256), look(at + 2 * M, 512, (n - 2 * M) // P))
)py"),
            "True True\nTrue True True\n");
}

TEST_F(LargeFork, IsIndependentFromTheFirstMomentOn) {
  const auto fork = ForkWith(64);
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, "ctypes.memset(at + n - M, 7, M)"), "");
  EXPECT_EQ(bench_.Say(*parent_, "print(right())\nctypes.memset(at, 9, 32 * M)"), "True\n");
  EXPECT_EQ(bench_.Say(*fork,
                       "print(look(at, 0, (n - M) // P), ctypes.string_at(at + n - M, M) == b'\\7' "
                       "* M)"),
            "True True\n");
}

/// Children that it makes before it has everything, and children of these.
TEST_F(LargeFork, ItsChildrenSeeEveryByte) {
  const auto fork = ForkWith(48);
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, R"py(
def child(then):
    r, w = os.pipe()
    if os.fork() == 0:
        try: os.write(w, then().encode())
        finally: os._exit(0)
    os.close(w)
    return r
def grandchild():
    r = child(lambda: str(right()))
    ctypes.memset(at, 5, n)  # nobody else's
    return os.read(r, 9).decode() + str(os.wait()[1])
answers = [child(grandchild), child(lambda: str(right()))]
print([os.read(r, 9) for r in answers], right(), [os.wait()[1] for _ in answers])
)py"),
            "[b'True0', b'True'] True [0, 0]\n");
}

TEST_F(LargeFork, ManyShortChildrenAndProgramsHarmNobody) {
  const auto fork = ForkWith(96);
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, R"py(
import subprocess
for i in range(300):
    if os.fork() == 0: os._exit(0)
    os.wait()
print(subprocess.run(["echo", "hi"], capture_output=True).stdout, right())
)py"),
            "b'hi\\n' True\n");
}

/// What it takes away or puts elsewhere before it has come.
TEST_F(LargeFork, MovesAndGivesUpItsMemoryAsAnybody) {
  const auto fork = ForkWith(160);
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, R"py(
end = at + n
# All of it at once, and only then a look.
libc.madvise(end - 8 * M, 4 * M, 4)
moved = libc.mremap(end - 40 * M, 8 * M, 16 * M, 1, None)
onto = libc.mremap(end - 60 * M, 4 * M, 4 * M, 3, end - 50 * M)
shorter = libc.mremap(end - 80 * M, 8 * M, 4 * M, 0, None)
libc.munmap(end - 16 * M, 8 * M)
again = libc.mmap(end - 16 * M, 8 * M, 3, 0x32, -1, 0)
over = libc.mmap(end - 24 * M, 4 * M, 3, 0x32, -1, 0)
for begin, size, rights in (90, 4, 0), (89, 1, 1), (90, 1, 3): libc.mprotect(end - begin * M, size * M, rights)
def there(megabytes, count, address=None):
    """What was so far before the end."""
    return look(address or end - megabytes * M, (n - megabytes * M) // P, count * M // P)
# Given up: zeros, where it was and where something else is now.
print(zeros(end - 8 * M, 4 * M), again == end - 16 * M, zeros(again, 8 * M), zeros(over, 4 * M))
print(there(4, 4), there(20, 4))
# Moved: the bytes go along, and what it grows by is zeros.
print(moved != end - 40 * M, there(40, 8, moved), zeros(moved + 8 * M, 8 * M))
print(onto == end - 50 * M, there(60, 4, onto), there(46, 4))
print(there(80, 4, shorter))
# Closed and opened again, in pieces.
print(there(90, 2), libc.mprotect(end - 88 * M, 2 * M, 3), there(90, 4))
print(look(at, 0, (n - 90 * M) // P))
)py"),
            "True True True True\nTrue True\nTrue True True\nTrue True True\nTrue\nTrue 0 True\n"
            "True\n");
}

/// Threads that read what others take away get the bytes or zeros, and everybody goes on.
TEST_F(LargeFork, ItsThreadsComeAtOnce) {
  const auto fork = ForkWith(96);
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, R"py(
found = []
def part(k): found.append(look(at + k * 8 * M, k * 2048, 2048))
def drop():
    for i in range(64): libc.madvise(at + n - 32 * M + i * M // 2, 64 * 1024, 4)
threads = [threading.Thread(target=part, args=(k,)) for k in range(8)] + [threading.Thread(target=drop)]
for each in threads: each.start()
for each in threads: each.join()
print(found, all(zeros(at + n - 32 * M + i * M // 2, 64 * 1024) for i in range(64)))
)py"),
            "[True, True, True, True, True, True, True, True] True\n");
}

TEST_F(LargeFork, OfAForkOfAForkWithoutAPause) {
  auto last = ForkWith(64);
  ASSERT_TRUE(last) << bench_.error();
  for (int i = 0; i < 3; ++i) {
    auto next = bench_.Fork(*last);
    ASSERT_TRUE(next) << bench_.error();
    last = std::move(next);
  }
  EXPECT_EQ(bench_.Say(*last, "print(right(), fine())"), "True True\n");
}

TEST_F(LargeFork, OutlivesAnOriginalThatIsClosedAtOnce) {
  const auto fork = ForkWith(128);
  ASSERT_TRUE(fork) << bench_.error();
  parent_.reset();
  EXPECT_EQ(bench_.Say(*fork, "print(right(), fine())"), "True True\n");
}

TEST_F(LargeFork, OutlivesAnOriginalThatIsKilledOrRenewedAtOnce) {
  auto first = ForkWith(64);
  ASSERT_TRUE(first) << bench_.error();
  const auto second = bench_.Fork(*first);
  ASSERT_TRUE(second) << bench_.error();
  first->Kill();
  EXPECT_EQ(bench_.Say(*second, "print(right())"), "True\n");
  EXPECT_THAT(bench_.Say(*first, "print(right())"), StartsWith("error: the session was ended"));
  const auto third = bench_.Fork(*parent_);
  ASSERT_TRUE(third) << bench_.error();
  EXPECT_EQ(bench_.Say(*parent_, "os._exit(3)"), "");
  EXPECT_EQ(bench_.Say(*third, "print(right())"), "True\n");
}

TEST_F(LargeFork, ThatIsClosedAtOnceLeavesNothingBehind) {
  auto fork = ForkWith(128);
  ASSERT_TRUE(fork) << bench_.error();
  fork.reset();
  EXPECT_EQ(bench_.Say(*parent_, "print(right(), sum(n.isdigit() for n in os.listdir('/proc')))"),
            "True 2\n");
  const auto keeps = [](const ProcessInfo& each) { return each.name == "igloo-holder"; };
  EXPECT_TRUE(WaitFor([&] { return std::ranges::none_of(DescendantsOf(::getpid()), keeps); }));
}

/// Nothing of what brings its memory is in its hands.
TEST_F(LargeFork, HoldsNoDescriptorOfIt) {
  const auto fork = ForkWith(64);
  ASSERT_TRUE(fork) << bench_.error();
  const std::string list = R"py(
def open_now():
    names = []
    for each in os.listdir("/proc/self/fd"):
        try: names.append(os.readlink("/proc/self/fd/" + each).split(":")[0])
        except OSError: pass
    return sorted(names)
print([name for name in open_now() if "userfault" in name], len(open_now()) < 12)
)py";
  EXPECT_EQ(bench_.Say(*fork, list), "[] True\n");
}

/// The child that holds still belongs to the original, whose code may kill it at any moment. Then
/// the fork ends, and says why: it never goes on with zeros.
TEST_F(LargeFork, NeverSeesZerosWhenTheOriginalsCodeKillsItsImage) {
  ASSERT_TRUE(parent_) << bench_.error();
  ASSERT_EQ(bench_.Say(*parent_, Hold(96)), "");
  ASSERT_EQ(bench_.Say(*parent_, R"py(
import time
orders, killer = os.pipe(), os.getpid()
if os.fork() == 0:  # kills whoever comes, so many milliseconds after it came
    known = {n for n in os.listdir("/proc") if n.isdigit()} | {str(os.getpid())}
    while True:
        delay = os.read(orders[0], 1)[0]
        while not (new := {n for n in os.listdir("/proc") if n.isdigit()} - known): pass
        time.sleep(delay / 1000)
        for n in new: os.kill(int(n), 9)
)py"),
            "");
  for (const int delay : {4, 8, 16, 24, 32, 48}) {
    ASSERT_EQ(bench_.Say(*parent_, "os.write(orders[1], bytes([" + std::to_string(delay) + "]))"),
              "");
    const auto fork = bench_.Fork(*parent_);
    if (!fork) continue;  // killed before it was of use to anybody
    EXPECT_THAT(bench_.Say(*fork, "print(right())"),
                AnyOf("True\n", HasSubstr("memory is lost"), HasSubstr("ended too soon")))
        << delay;
    EXPECT_EQ(bench_.Say(*parent_, "print(right())"), "True\n") << "the original lives on";
  }
}

class LargeForkServed : public Configured {};

/// Whoever kills igloo ends the sandbox, but some time later: meanwhile it must not go on with what
/// nobody will bring any more.
TEST_F(LargeForkServed, NeverSeesZerosWhenIglooIsKilled) {
  std::filesystem::create_directories(Path("code"));
  std::filesystem::permissions(Path("code"), std::filesystem::perms(0777));
  Write(kUsual, "[project]\npath = \"" + Path("code") + "\"\nmode = \"readwrite\"\n");
  for (int round = 0; round < 3; ++round) {
    McpClient client({.args = {"mcp"}, .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
    client.Initialize();
    const auto run = [&](std::string_view code, JsonObject more) {
      more["env"] = "python";
      more["code"] = code;
      return client.Call("run_connected", std::move(more));
    };
    const JsonObject held = run(Hold(200), {{"session", "a"}});
    ASSERT_THAT(TextOf(held), StartsWith("[exit code 0"));
    const JsonObject fork = run(R"py(
def scan():
    with open("/project/seen", "ab", 0) as seen:
        seen.write(b"begun ")
        for k in reversed(range(n // P)):
            if ctypes.string_at(at + k * P, 8) != page(k)[:8]: seen.write(b"wrong ")
threading.Thread(target=scan).start()
)py",
                                {{"session", "b"}, {"fork_of", "a"}});
    ASSERT_THAT(TextOf(fork), HasSubstr("this is a copy"));
    const auto family = DescendantsOf(client.running().pid());
    client.running().Signal(SIGKILL);
    for (const ProcessInfo& each : family) {
      EXPECT_TRUE(WaitFor([&] { return IsGone(each.pid); })) << each.name;
    }
  }
  EXPECT_THAT(Read("code/seen"), AllOf(StartsWith("begun"), ::testing::Not(HasSubstr("wrong"))));
}

}  // namespace
}  // namespace igloo::testing
