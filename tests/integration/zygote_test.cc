// Interpreters that were forked and not started: as good as any other, and strangers to each other.

#include <gmock/gmock.h>

#include "support/interpreters.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using From = Interpreters::From;

TEST(Zygote, ItsForksRunCode) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kZygote);
  ASSERT_TRUE(one) << bench.error();
  EXPECT_EQ(bench.Say(*one, "x = 6 * 7\nprint(x)"), "42\n");
  EXPECT_EQ(bench.Say(*one, "print(x + 1)"), "43\n");
}

/// Between the zygote and its fork stood a process that borrowed the zygote's memory: the C library
/// has to know of the fork as of any other.
TEST(Zygote, ItsForksKnowWhoAndWhereTheyAre) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kZygote);
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
             "Seccomp", "SigBlk", "SigIgn", "SigCgt", "Umask", "TracerPid", "NSpid", "THP_enabled"):
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

TEST(Zygote, ItsForksStandBehindTheSameWallAsAnyOther) {
  Interpreters bench("python");
  const auto started = bench.Open(From::kStart);
  ASSERT_TRUE(started) << bench.error();
  const auto forked = bench.Open(From::kZygote);
  ASSERT_TRUE(forked) << bench.error();
  const std::string wanted = WithoutPids(bench.Say(*started, kLook));
  EXPECT_THAT(wanted, HasSubstr("CapBnd 0000000000000000"));
  EXPECT_EQ(WithoutPids(bench.Say(*forked, kLook)), wanted);
  // Two filters: its own, and the one that it was born with.
  EXPECT_EQ(bench.Say(*forked, "print(status['Seccomp_filters'].strip())"), "2\n");
  EXPECT_EQ(bench.Say(*started, "print(status['Seccomp_filters'].strip())"), "1\n");
}

/// The right to enter namespaces is the zygote's alone.
TEST(Zygote, ItsForksCannotEnterNamespaces) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kZygote);
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

TEST(Zygote, ItsForksAreStrangersToEachOther) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kZygote);
  const auto other = bench.Open(From::kZygote);
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

TEST(Zygote, AnInterpreterThatEndedIsStartedAnew) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kZygote);
  ASSERT_TRUE(one) << bench.error();
  const auto ended = bench.Call(*one, "open('kept', 'w').write('x')\nimport os\nos._exit(7)");
  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->exit_code, 7);
  EXPECT_TRUE(ended->lost_now);
  EXPECT_EQ(bench.Say(*one, "import os\nprint(os.listdir('/workspace'))"), "['kept']\n");
}

TEST(Zygote, ItsForksAreInterrupted) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kZygote);
  ASSERT_TRUE(one) << bench.error();
  const auto stopped = bench.Call(*one, "x = 1\nwhile True: pass", 100);
  ASSERT_TRUE(stopped) << stopped.error().what;
  EXPECT_EQ(stopped->verdict, session::Verdict::kTimeout);
  EXPECT_EQ(bench.Say(*one, "print(x)"), "1\n");
}

TEST(Zygote, SaysWhatItCannotLoadAndLoadsTheRest) {
  Interpreters bench("python");
  const auto zygote = bench.StartZygote({"no_such_module", "fractions"});
  ASSERT_TRUE(zygote) << zygote.error().what;
  const auto one = bench.Open(From::kZygote);
  ASSERT_TRUE(one) << bench.error();
  EXPECT_EQ(bench.Say(*one, "import sys\nprint('fractions' in sys.modules)"), "True\n");
  EXPECT_THAT((*zygote)->TakeComplaints(),
              ::testing::ElementsAre(HasSubstr("cannot preload no_such_module")));
}

/// A library's addresses are written into it when it is loaded: its file does not have them.
TEST(Zygote, ItsForksUseLibrariesThatItLoaded) {
  Interpreters bench("python");
  const auto zygote = bench.StartZygote({"ssl"});
  ASSERT_TRUE(zygote) << zygote.error().what;
  const auto one = bench.Open(From::kZygote);
  ASSERT_TRUE(one) << bench.error();
  EXPECT_EQ(bench.Say(*one, "import hashlib\nprint(hashlib.sha256(b'x').hexdigest()[:16])"),
            "2d711642b726b044\n");
  EXPECT_EQ(bench.Say(*one, "import ssl\nprint(ssl.create_default_context().verify_mode > 0)"),
            "True\n");
}

TEST(Zygote, EndsAndItsForksLive) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kZygote);
  ASSERT_TRUE(one) << bench.error();
  bench.EndZygote();
  EXPECT_EQ(bench.Say(*one, "print(1)"), "1\n");
}

}  // namespace
}  // namespace igloo::testing
