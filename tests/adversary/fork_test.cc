// A session and its fork are strangers: whatever one of them made before the fork, neither reaches
// the other afterwards. Each attack must win between two processes that a plain fork() made.
#include <gmock/gmock.h>

#include "support/igloo.h"
#include "support/interpreters.h"

namespace igloo::testing {
namespace {

using From = Interpreters::From;

struct ForkCase {
  std::string name = {};
  std::string before = {};  ///< in the session, before it is forked
  std::string victim = {};  ///< in one of the two
  std::string attack = {};  ///< in the other one; sets `won`
  /// Where fork() makes the control's two: what no sandbox allows can only win outside.
  enum class Control { kSandbox, kHost } control = Control::kSandbox;
};

void PrintTo(const ForkCase& attack, std::ostream* out) { *out << attack.name; }

/// What the code of all cases uses.
constexpr const char* kTools = R"py(
import ctypes, fcntl, mmap, os, signal, socket, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
def attempt(action, *arguments):
    try:
        return action(*arguments)
    except OSError:
        return None
def stream(address):
    made = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
    if not isinstance(address, str): made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return made
def listen(address):
    made = stream(address); made.bind(address); made.listen()
    return made
def connect(address):
    made = stream(address)
    return attempt(lambda: (made.connect(address), made)[1])
pids, won = range(2, 70_000), False
others = lambda: (pid for pid in pids if pid != os.getpid())
)py";

std::vector<ForkCase> MemoryCases() {
  const std::string secret =
      "secret = ctypes.create_string_buffer(32); address = ctypes.addressof(secret)";
  const std::string keep = "secret.value = b'of the victim'";
  return {
      {"SharedMemory", "m = mmap.mmap(-1, 4096)", "m[:6] = b'secret'", "won = m[:6] == b'secret'"},
      {"SharedFile",
       "f = open('/workspace/m', 'w+b'); f.truncate(4096); m = mmap.mmap(f.fileno(), 4096)",
       "m[:6] = b'secret'", "won = m[:6] == b'secret'"},
      {"SharedMemoryFile", "f = open('/dev/shm/m', 'w+b', buffering=0)",
       "attempt(f.write, b'secret'); attempt(lambda: open('/dev/shm/n', 'w').close())",
       "won = attempt(lambda: os.pread(f.fileno(), 6, 0)) == b'secret' or "
       "attempt(lambda: open('/dev/shm/m').read()) == 'secret'"},
      {"SystemVMemory",
       "segment = libc.shmget(0, 4096, 0o1600); at = libc.shmat(segment, None, 0) or 0\n"
       "mapped = segment >= 0 and at < 2**63",
       "mapped and ctypes.memmove(at, b'secret', 6)",
       "won = mapped and ctypes.string_at(at, 6) == b'secret'\n"
       "again = libc.shmat(segment, None, 0) or 0\n"
       "won = won or 0 < again < 2**63 and ctypes.string_at(again, 6) == b'secret'",
       ForkCase::Control::kHost},
      {"MemoryFile", "f = attempt(os.memfd_create, 'm'); f = -1 if f is None else f",
       "attempt(os.pwrite, f, b'secret', 0)", "won = attempt(os.pread, f, 6, 0) == b'secret'",
       ForkCase::Control::kHost},
      {"Futex", "m = mmap.mmap(-1, 4096); word = ctypes.c_int.from_buffer(m)",
       "threading.Thread(target=lambda: libc.syscall(202, ctypes.byref(word), 0, 0, None), "
       "daemon=True).start()",
       // Until the other thread sleeps: in the control it does soon.
       "for _ in range(300):\n"
       "  won = won or libc.syscall(202, ctypes.byref(word), 1, 1000) > 0\n"
       "  won or time.sleep(0.002)"},
      {"MemoryThroughProc", secret, keep,
       "def look(pid):\n"
       "  with open(f'/proc/{pid}/mem', 'rb') as file:\n"
       "    file.seek(address); return b'of the victim' in file.read(32)\n"
       "won = any(attempt(look, pid) for pid in others())"},
      {"MemoryByCall", secret, keep,
       "class Part(ctypes.Structure): _fields_ = [('at', ctypes.c_void_p), ('size', "
       "ctypes.c_size_t)]\n"
       "mine = ctypes.create_string_buffer(32)\n"
       "near, far = Part(ctypes.addressof(mine), 32), Part(address, 32)\n"
       "read = lambda pid: libc.process_vm_readv(pid, ctypes.byref(near), 1, ctypes.byref(far), 1, "
       "0)\n"
       "won = any(read(pid) == 32 for pid in others())",
       ForkCase::Control::kHost},
      {"Trace", "", "", "won = any(libc.ptrace(0x4206, pid, 0, 0) == 0 for pid in others())",
       ForkCase::Control::kHost},
  };
}

std::vector<ForkCase> ProcessCases() {
  return {
      {"EveryNumber", "", "",
       "won = any(libc.kill(pid, 0) == 0 or ctypes.get_errno() == 1 for pid in others())"},
      {"Everyone", "", "", "won = libc.kill(-1, 0) == 0"},
      {"Group", "", "", "won = any(libc.kill(-pid, 0) == 0 for pid in others())"},
      {"Pidfd", "", "", "won = any(attempt(os.pidfd_open, pid) for pid in others())"},
      {"Listing", "", "",
       "won = any(name.isdigit() and int(name) not in (1, os.getpid()) "
       "for name in os.listdir('/proc'))"},
      {"OwnerOfSignals",
       "r, w = os.pipe(); heard = []\n"
       "signal.signal(signal.SIGIO, lambda *_: heard.append(1))\n"
       "fcntl.fcntl(r, fcntl.F_SETOWN, os.getpid()); fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC)",
       "attempt(os.write, w, b'x')", "won = bool(heard)"},
  };
}

std::vector<ForkCase> DescriptorCases() {
  const std::string accept = "attempt(s.setblocking, False); won = attempt(s.accept) is not None";
  return {
      {"Pipe", "r, w = os.pipe()", "attempt(os.write, w, b'x')",
       "attempt(os.set_blocking, r, False); won = attempt(os.read, r, 1) == b'x'"},
      {"SocketPair", "a, b = socket.socketpair()", "attempt(a.send, b'x')",
       "attempt(b.setblocking, False); won = attempt(b.recv, 1) == b'x'"},
      {"ListeningAbstractSocket", "s = listen('\\0igloo-fork')", "c = connect('\\0igloo-fork')",
       accept},
      {"ListeningTcp", "s = listen(('127.0.0.1', 4711))", "c = connect(('127.0.0.1', 4711))",
       accept},
      {"ListeningFileSocket", "s = listen('/workspace/socket')", "c = connect('/workspace/socket')",
       accept},
      {"LaterAbstractSocket", "", "s = listen('\\0igloo-late')",
       "won = connect('\\0igloo-late') is not None"},
      {"LaterTcp", "", "s = listen(('127.0.0.1', 4712))",
       "won = connect(('127.0.0.1', 4712)) is not None"},
      {"WorkspaceDescriptor", "d = os.open('/workspace', os.O_RDONLY)",
       "open('/workspace/late', 'w').close()",
       "won = attempt(lambda: os.open('late', os.O_RDONLY, dir_fd=d)) is not None"},
      {"TemporaryDescriptor", "d = os.open('/tmp', os.O_RDONLY)", "open('/tmp/late', 'w').close()",
       "won = attempt(lambda: os.open('late', os.O_RDONLY, dir_fd=d)) is not None"},
      {"WorkingDirectory", "os.chdir('/tmp')", "open('/tmp/late', 'w').close()",
       "won = os.path.exists('late')"},
      {"Lock", "f = open('/workspace/lock', 'w')", "attempt(fcntl.flock, f, fcntl.LOCK_EX)",
       "won = attempt(lambda: fcntl.flock(open('/workspace/lock', 'w'), "
       "fcntl.LOCK_EX | fcntl.LOCK_NB) or 1) is None"},
      {"RecordLock", "f = open('/workspace/lock', 'w')", "attempt(fcntl.lockf, f, fcntl.LOCK_EX)",
       "won = attempt(lambda: fcntl.lockf(open('/workspace/lock', 'w'), "
       "fcntl.LOCK_EX | fcntl.LOCK_NB) or 1) is None"},
  };
}

/// The same between a process and what it forks. The victim is the child and waits.
std::string PlainFork(const ForkCase& attack) {
  return kTools + attack.before + R"py(
import sys
_read, _write = os.pipe()
_child = os.fork()
if _child == 0:
)py" + "    exec(r'''" +
         attack.victim + "\n''', globals())" + R"py(
    os.setpgid(0, 0)
    os.write(_write, b'x')
    signal.pause()
    os._exit(0)
os.read(_read, 1)
pids = [_child]
)py" + attack.attack +
         "\nos.kill(_child, signal.SIGKILL); os.waitpid(_child, 0)\n"
         "print('leaked' if won else 'held')\n";
}

class ForkAttack : public ::testing::TestWithParam<ForkCase> {};

TEST_P(ForkAttack, IsHeldBothWays) {
  const ForkCase& attack = GetParam();
  Interpreters bench("python");
  for (const bool upwards : {true, false}) {
    const auto parent = bench.Open(From::kCheckpoint);
    ASSERT_TRUE(parent) << bench.error();
    ASSERT_EQ(bench.Say(*parent, kTools + attack.before), "");
    const auto fork = bench.Fork(*parent);
    ASSERT_TRUE(fork) << bench.error();
    auto& victim = upwards ? *parent : *fork;
    auto& attacker = upwards ? *fork : *parent;
    EXPECT_EQ(bench.Say(victim, attack.victim + "\nNone"), "");
    EXPECT_EQ(bench.Say(attacker, attack.attack + "\nprint('leaked' if won else 'held')"), "held\n")
        << (upwards ? "the fork reached its parent" : "the parent reached its fork");
    EXPECT_EQ(bench.Say(victim, "print(1)"), "1\n");
  }
  if (attack.control == ForkCase::Control::kHost) {
    const Outcome control =
        RunProgram({.program = "/usr/bin/python3", .args = {"-I", "-c", PlainFork(attack)}});
    EXPECT_EQ(control.out, "leaked\n") << "control: " << control.err;
    return;
  }
  const auto control = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(control) << bench.error();
  EXPECT_EQ(bench.Say(*control, PlainFork(attack)), "leaked\n") << "control";
}

std::string NameOf(const ::testing::TestParamInfo<ForkCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Memory, ForkAttack, ::testing::ValuesIn(MemoryCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(Processes, ForkAttack, ::testing::ValuesIn(ProcessCases()), NameOf);
INSTANTIATE_TEST_SUITE_P(Descriptors, ForkAttack, ::testing::ValuesIn(DescriptorCases()), NameOf);

/// One that a fork keeps would end it with a signal that it has no handler for.
TEST(ForkedTimers, StayWithTheParent) {
  Interpreters bench("python");
  const auto parent = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(parent) << bench.error();
  bench.Say(*parent, kTools + std::string("heard = []\n"
                                          "signal.signal(signal.SIGALRM, lambda *_: "
                                          "heard.append(1))\n"
                                          "signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)"));
  const auto fork = bench.Fork(*parent);
  ASSERT_TRUE(fork) << bench.error();
  EXPECT_EQ(bench.Say(*fork, "heard.clear(); print(signal.getitimer(signal.ITIMER_REAL))"),
            "(0.0, 0.0)\n");
  EXPECT_EQ(bench.Say(*parent, "heard.clear()\nwhile len(heard) < 5: signal.pause()\nprint('on')"),
            "on\n")
      << "control: the timer runs";
  EXPECT_EQ(bench.Say(*fork, "print(heard)"), "[]\n");
}

}  // namespace
}  // namespace igloo::testing
