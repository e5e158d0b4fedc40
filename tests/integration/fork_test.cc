// Copies of living interpreters: the same variables, another sandbox, nothing shared.

#include <gmock/gmock.h>

#include "support/interpreters.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using From = Interpreters::From;

class ForkTest : public ::testing::Test {
 protected:
  ForkTest() : bench_("python"), parent_(bench_.Open(From::kCheckpoint)) {}

  std::unique_ptr<session::Interpreter> ForkAfter(const std::string& code) {
    if (!parent_) return nullptr;
    said_ = bench_.Say(*parent_, code);
    return bench_.Fork(*parent_);
  }

  Interpreters bench_;
  std::unique_ptr<session::Interpreter> parent_;
  std::string said_;
};

TEST_F(ForkTest, HasTheSameVariablesAndGoesItsOwnWay) {
  const auto fork = ForkAfter(
      "import math, collections\nx = [1, 2, 3]\ndef f(): return sum(x)\nclass C:\n  y = {'a': 1}\n"
      "g = (n * n for n in range(10)); next(g)");
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, "print(x, f(), C.y, next(g), math.pi)"),
            "[1, 2, 3] 6 {'a': 1} 1 3.141592653589793\n");
  EXPECT_EQ(bench_.Say(*fork, "x.append(10); C.y['a'] = 2; print(f())"), "16\n");
  EXPECT_EQ(bench_.Say(*parent_, "print(x, f(), C.y, next(g))"), "[1, 2, 3] 6 {'a': 1} 1\n");
}

/// Everything that was made since the interpreter began: new memory, new libraries, new mappings.
TEST_F(ForkTest, TakesEverythingAlong) {
  const auto fork = ForkAfter(R"py(
import decimal, json, mmap, re, sqlite3, zlib
big = bytearray(range(256)) * 200_000
many = [str(i) for i in range(300_000)]
shared = mmap.mmap(-1, 8192); shared[:5] = b"hello"
base = sqlite3.connect(":memory:"); base.execute('create table t (x)'); base.execute('insert into t values (7)')
pattern = re.compile("(a+)b")
def deep(n): return n if n == 0 else deep(n - 1)
deep(900)
)py");
  EXPECT_EQ(said_, "");
  ASSERT_TRUE(fork) << bench_.error();
  const std::string look = R"py(
print(zlib.crc32(big), len(many), sum(map(len, many)), bytes(shared[:5]), pattern.match("aab")[1])
print(base.execute('select x from t').fetchall(), decimal.Decimal(1) / 3, json.dumps(many[5:7]), deep(900))
)py";
  EXPECT_EQ(bench_.Say(*fork, look), bench_.Say(*parent_, look));
  // What was shared memory is not shared with the parent.
  EXPECT_EQ(bench_.Say(*fork, "shared[:5] = b'other'"), "");
  EXPECT_EQ(bench_.Say(*parent_, "print(bytes(shared[:5]))"), "b'hello'\n");
  // It lives on as any other: allocates, imports, starts threads and programs.
  EXPECT_EQ(bench_.Say(*fork, R"py(
import subprocess, threading, fractions
more = [list(range(1000)) for _ in range(2000)]
out = []
threads = [threading.Thread(target=out.append, args=(i,)) for i in range(5)]
for each in threads: each.start()
for each in threads: each.join()
print(sorted(out), subprocess.run(["echo", "hi"], capture_output=True).stdout, len(more))
)py"),
            "[0, 1, 2, 3, 4] b'hi\\n' 2000\n");
}

/// A mapping may reach beyond the end of its file: there is nothing, and before it is all of it.
TEST_F(ForkTest, TakesFilesAlongThatEndInTheMidstOfAMapping) {
  const auto fork = ForkAfter(R"py(
import ctypes, os
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
with open("/workspace/f", "wb") as f: f.write(b"0123456789" * 1000)
file = os.open("/workspace/f", os.O_RDONLY)
at = libc.mmap(None, 1 << 21, 1, 2, file, 0)
)py");
  EXPECT_EQ(said_, "");
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, "print(ctypes.string_at(at, 10000) == b'0123456789' * 1000)"),
            "True\n");
}

TEST_F(ForkTest, OfAForkOfAFork) {
  auto first = ForkAfter("x = ['parent']");
  ASSERT_TRUE(first) << bench_.error();
  for (int i = 0; i < 5; ++i) {
    bench_.Say(*first, "x.append(" + std::to_string(i) + ")");
    auto next = bench_.Fork(*first);
    ASSERT_TRUE(next) << bench_.error();
    first = std::move(next);
  }
  EXPECT_EQ(bench_.Say(*first, "print(x)"), "['parent', 0, 1, 2, 3, 4]\n");
  EXPECT_EQ(bench_.Say(*parent_, "print(x)"), "['parent']\n");
}

/// Descriptors are the parent's own. What a fork has in their place harms nobody.
TEST_F(ForkTest, OpenFilesOfTheParentAreClosedToIt) {
  const auto fork = ForkAfter(R"py(
import os
f = open("/workspace/secret", "w+"); f.write("parent's"); f.flush(); f.seek(0)
r, w = os.pipe()
)py");
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, "print(os.path.exists('/workspace/secret'))"), "False\n");
  EXPECT_THAT(bench_.Say(*fork, "f.read()"), HasSubstr("Bad file descriptor"));
  EXPECT_THAT(bench_.Say(*fork, "os.write(w, b'x')"), HasSubstr("Bad file descriptor"));
  EXPECT_EQ(bench_.Say(*parent_,
                       "os.set_blocking(r, False)\ntry: print(os.read(r, 1))\n"
                       "except BlockingIOError: print('nothing')"),
            "nothing\n");
  // Its objects may close theirs without taking anybody else's.
  EXPECT_EQ(bench_.Say(*fork,
                       "del f\nn = open('/workspace/new', 'w'); n.write('x'); n.close()\n"
                       "print(open('/workspace/new').read())"),
            "x\n");
}

TEST_F(ForkTest, IsInterruptedAndHandlesSignalsAsTheParentDoes) {
  const auto fork = ForkAfter(
      "import os, signal\nheard = []\nsignal.signal(signal.SIGUSR1, lambda *_: heard.append(1))");
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, "os.kill(os.getpid(), signal.SIGUSR1)\nprint(heard)"), "[1]\n");
  const auto stopped = bench_.Call(*fork, "while True: pass", 100);
  ASSERT_TRUE(stopped) << stopped.error().what;
  EXPECT_EQ(stopped->verdict, session::Verdict::kTimeout);
  EXPECT_EQ(bench_.Say(*fork, "print(heard)"), "[1]\n");
  EXPECT_EQ(bench_.Say(*parent_, "print(heard)"), "[]\n");
}

TEST_F(ForkTest, QuotesTheLinesOfEarlierCalls) {
  const auto fork = ForkAfter("def broken():\n    return 1 / 0  # here");
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_THAT(bench_.Say(*fork, "broken()"), HasSubstr("return 1 / 0  # here"));
}

TEST_F(ForkTest, AwaitsAsTheParentDoes) {
  const auto fork = ForkAfter("import asyncio\nawait asyncio.sleep(0)\nx = 5");
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, "await asyncio.sleep(0.001)\nprint(x)"), "5\n");
  EXPECT_EQ(bench_.Say(*parent_, "await asyncio.sleep(0.001)\nprint(x)"), "5\n");
}

/// Threads are not forked; the session says so by not having them, and everything else works.
TEST_F(ForkTest, HasNoThreadsOfTheParent) {
  const auto fork = ForkAfter(R"py(
import threading, queue
orders, answers = queue.Queue(), queue.Queue()
threading.Thread(target=lambda: [answers.put(orders.get() + 1) for _ in range(3)], daemon=True).start()
orders.put(1)
print(answers.get())
)py");
  EXPECT_EQ(said_, "2\n");
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*fork, "print(threading.active_count())"), "1\n");
  EXPECT_EQ(bench_.Say(*parent_, "orders.put(5); print(answers.get(), threading.active_count())"),
            "6 2\n");
}

TEST_F(ForkTest, LeavesNoChildInTheParent) {
  const auto fork = ForkAfter("import os");
  ASSERT_TRUE(fork) << bench_.error();
  EXPECT_EQ(bench_.Say(*parent_, "print(sum(n.isdigit() for n in os.listdir('/proc')))"), "2\n");
  EXPECT_EQ(bench_.Say(*parent_, "try: os.waitpid(-1, 0)\nexcept ChildProcessError: print('none')"),
            "none\n");
}

TEST_F(ForkTest, OfAnInterpreterThatWasStartedAnewIsRefusedAndHarmsNobody) {
  ASSERT_TRUE(parent_) << bench_.error();
  bench_.Say(*parent_, "import os; os._exit(1)");
  bench_.Say(*parent_, "x = 1");
  EXPECT_FALSE(bench_.Fork(*parent_));
  EXPECT_THAT(bench_.error(), HasSubstr("started anew"));
  EXPECT_EQ(bench_.Say(*parent_, "print(x)"), "1\n");
}

}  // namespace
}  // namespace igloo::testing
