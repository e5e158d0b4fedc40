// Interpreters that were restored and not started: as good as any other, and strangers to each
// other.

#include <gmock/gmock.h>

#include "support/interpreters.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using From = Interpreters::From;

TEST(Checkpoint, WhatIsRestoredRunsCode) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one) << bench.error();
  EXPECT_EQ(bench.Say(*one, "x = 6 * 7\nprint(x)"), "42\n");
  EXPECT_EQ(bench.Say(*one, "print(x + 1)"), "43\n");
}

/// The C library remembers the number of its process, and the kernel is told where.
TEST(Checkpoint, WhatIsRestoredKnowsWhoAndWhereItIs) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one) << bench.error();
  EXPECT_EQ(bench.Say(*one, R"py(
import ctypes, os, signal, threading
print(threading.get_native_id() == os.getpid(), threading.main_thread().is_alive())
places = []
for cpu in os.sched_getaffinity(0):
    os.sched_setaffinity(0, {cpu})
    places.append(ctypes.CDLL(None).sched_getcpu() == cpu)
print(all(places), len(places) > 0)
# To the thread itself, by the number that the C library keeps.
heard = []
signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
getattr(ctypes.CDLL(None), "raise")(int(signal.SIGUSR1))
print(heard)
worker = threading.Thread(target=lambda: heard.append(2))
worker.start()
worker.join()
print(heard)
)py"),
            "True True\nTrue True\n[1]\n[1, 2]\n");
}

/// Everything about a process that a wall consists of, and what a program can tell about its start.
constexpr const char* kLook = R"py(
import os, re
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
for name in ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs",
             "Seccomp", "Seccomp_filters", "SigBlk", "SigIgn", "SigCgt", "Umask", "TracerPid", "NSpid", "THP_enabled"):
    print(name, *status.get(name, "?").split())
print(open("/proc/self/limits").read())
print(sorted(os.environ.items()))
print(os.getcwd(), os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid(), os.getppid())
print(sorted(os.listdir("/proc/self/fd")), [os.readlink(f"/proc/self/fd/{n}").split(":")[0] for n in range(3)])
print(open("/proc/self/cgroup").read())
# Every sandbox has an id of its own outside, which its file systems show.
print([re.sub("id=[0-9]+", "id", line.split(" ", 4)[4]) for line in open("/proc/self/mountinfo")])
print(os.listdir("/"), os.listdir("/workspace"), os.listdir("/tmp"))
print(open("/proc/net/dev").read().count(":"))
print(__name__, os.nice(0), os.sched_getscheduler(0), os.access("/proc/self/mem", os.R_OK))
for attempt in ("open('/etc/x', 'w')", "os.kill(1, 9)", "os.setuid(0)", "os.mkdir('/x')",
                "os.listdir('/proc/1/fd')", "os.chroot('/')"):
    try:
        print(attempt, eval(attempt))
    except Exception as error:
        print(attempt, error)
)py";

/// Lines in which pids stand.
std::string WithoutPids(std::string text) {
  const auto at = text.find("NSpid ");
  if (at != std::string::npos) text.erase(at, text.find('\n', at) - at);
  return text;
}

TEST(Checkpoint, WhatIsRestoredStandsBehindTheSameWallAsAnyOther) {
  Interpreters bench("python");
  const auto started = bench.Open(From::kStart);
  ASSERT_TRUE(started) << bench.error();
  const auto restored = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(restored) << bench.error();
  const std::string wanted = WithoutPids(bench.Say(*started, kLook));
  EXPECT_THAT(wanted, HasSubstr("CapBnd 0000000000000000"));
  EXPECT_EQ(WithoutPids(bench.Say(*restored, kLook)), wanted);
}

TEST(Checkpoint, WhatIsRestoredCannotEnterNamespaces) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one) << bench.error();
  EXPECT_EQ(bench.Say(*one, R"(
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for kind in ("pid", "net", "user", "mnt", "uts", "ipc", "cgroup"):
    fd = os.open(f"/proc/self/ns/{kind}", os.O_RDONLY)
    print(libc.setns(fd, 0), ctypes.get_errno(), libc.unshare(0x10000000), ctypes.get_errno())
    os.close(fd)
)"),
            "-1 1 -1 1\n-1 1 -1 1\n-1 1 -1 1\n-1 1 -1 1\n-1 1 -1 1\n-1 1 -1 1\n-1 1 -1 1\n");
}

TEST(Checkpoint, WhatIsRestoredFromOneAreStrangersToEachOther) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kCheckpoint);
  const auto other = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one && other) << bench.error();
  const std::string look = R"(
import os, random
open("/workspace/mine", "a").write("x")
print([os.readlink(f"/proc/self/ns/{kind}") for kind in ("pid", "net", "user", "mnt", "uts", "ipc", "cgroup")])
)";
  EXPECT_NE(bench.Say(*one, look), bench.Say(*other, look));
  for (const auto* each : {&one, &other}) {
    // igloo-init, and the interpreter itself.
    EXPECT_EQ(bench.Say(**each, "print(sum(name.isdigit() for name in os.listdir('/proc')))"),
              "2\n");
    EXPECT_EQ(bench.Say(**each, "print(os.path.getsize('/workspace/mine'))"), "1\n");
  }
  EXPECT_NE(bench.Say(*one, "print(random.random())"), bench.Say(*other, "print(random.random())"));
}

/// Generators that take the same number of a process for the same process would repeat themselves.
TEST(Checkpoint, RandomNumbersOfLibrariesDiffer) {
  Interpreters bench("python");
  const auto checkpoint = bench.MakeCheckpoint({"ssl", "numpy.random", "uuid", "tempfile"});
  ASSERT_TRUE(checkpoint) << checkpoint.error().what;
  const auto one = bench.Open(From::kCheckpoint);
  const auto other = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one && other) << bench.error();
  for (const char* code :
       {"import ssl; print(ssl.RAND_bytes(8))", "import uuid; print(uuid.uuid4())",
        "import numpy; print(numpy.random.rand())", "import tempfile; print(tempfile.mktemp())"}) {
    EXPECT_NE(bench.Say(*one, code), bench.Say(*other, code)) << code;
  }
}

/// A library with threads of its own: they are not in the checkpoint, and it knows.
TEST(Checkpoint, LibrariesWithThreadsWork) {
  Interpreters bench("python");
  const auto checkpoint = bench.MakeCheckpoint({"numpy", "matplotlib.pyplot"});
  ASSERT_TRUE(checkpoint) << checkpoint.error().what;
  EXPECT_THAT((*checkpoint)->TakeComplaints(),
              ::testing::Not(::testing::Contains(HasSubstr("numpy"))));
  const auto one = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one) << bench.error();
  EXPECT_EQ(bench.Say(*one, "import numpy\na = numpy.ones((400, 400))\nprint(int((a @ a).sum()))"),
            "64000000\n");
}

TEST(Checkpoint, AnInterpreterThatEndedIsStartedAnew) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one) << bench.error();
  const auto ended = bench.Call(*one, "open('kept', 'w').write('x')\nimport os\nos._exit(7)");
  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->exit_code, 7);
  EXPECT_TRUE(ended->lost_now);
  EXPECT_EQ(bench.Say(*one, "import os\nprint(os.listdir('/workspace'))"), "['kept']\n");
}

TEST(Checkpoint, WhatIsRestoredIsInterrupted) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one) << bench.error();
  const auto stopped = bench.Call(*one, "x = 1\nwhile True: pass", 100);
  ASSERT_TRUE(stopped) << stopped.error().what;
  EXPECT_EQ(stopped->verdict, session::Verdict::kTimeout);
  EXPECT_EQ(bench.Say(*one, "print(x)"), "1\n");
}

TEST(Checkpoint, SaysWhatItCannotLoadAndLoadsTheRest) {
  Interpreters bench("python");
  const auto checkpoint = bench.MakeCheckpoint({"no_such_module", "fractions"});
  ASSERT_TRUE(checkpoint) << checkpoint.error().what;
  const auto one = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one) << bench.error();
  EXPECT_EQ(bench.Say(*one, "import sys\nprint('fractions' in sys.modules)"), "True\n");
  EXPECT_THAT((*checkpoint)->TakeComplaints(),
              ::testing::ElementsAre(HasSubstr("cannot preload no_such_module")));
}

/// A library's addresses are written into it when it is loaded: its file does not have them.
TEST(Checkpoint, WhatIsRestoredUsesLibrariesThatWereLoaded) {
  Interpreters bench("python");
  const auto checkpoint = bench.MakeCheckpoint({"ssl"});
  ASSERT_TRUE(checkpoint) << checkpoint.error().what;
  const auto one = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one) << bench.error();
  EXPECT_EQ(bench.Say(*one, "import hashlib\nprint(hashlib.sha256(b'x').hexdigest()[:16])"),
            "2d711642b726b044\n");
  EXPECT_EQ(bench.Say(*one, "import ssl\nprint(ssl.create_default_context().verify_mode > 0)"),
            "True\n");
}

TEST(Checkpoint, IsForgottenAndWhatWasRestoredLives) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one) << bench.error();
  bench.ForgetCheckpoint();
  EXPECT_EQ(bench.Say(*one, "print(1)"), "1\n");
}

}  // namespace
}  // namespace igloo::testing
