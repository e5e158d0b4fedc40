#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/driven.h"
#include "support/igloo.h"

namespace igloo::language {
namespace {

using igloo::testing::Driven;
using igloo::testing::DrivenRun;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class PythonDriver : public ::testing::Test {
 protected:
  std::string Value(std::string_view code) { return driven_.Run(code).value; }
  std::string Out(std::string_view code) { return driven_.Run(code).out; }

  void ExpectInterruptible(const std::string& code) {
    driven_.Begin("print('go')\n" + code + "\nprint('not reached')");
    ASSERT_TRUE(driven_.WaitForOutput("go\n")) << code;
    const DrivenRun run = driven_.EndByInterrupts();
    EXPECT_EQ(run.status, 130) << code;
    EXPECT_TRUE(run.interrupted) << code;
    EXPECT_EQ(run.out, "go\n") << code;
    EXPECT_THAT(run.err, AllOf(HasSubstr("KeyboardInterrupt"), HasSubstr("in <module>"))) << code;
    EXPECT_EQ(Value("kept"), "'yes'") << code;
  }

  Driven driven_ = Driven("python");
};

TEST_F(PythonDriver, KeepsWhatCodeMade) {
  driven_.Run(
      "import os\nx = 1\ndef f(n):\n  return n + x\nclass C:\n  "
      "pass\nos.chdir('/usr')\nos.environ['V'] = 'v'");
  EXPECT_EQ(Value("x, f(2), C.__module__, os.getcwd(), os.environ['V'], __name__"),
            "(1, 3, '__main__', '/usr', 'v', '__main__')");
  EXPECT_EQ(Value("import pickle\npickle.loads(pickle.dumps(C)) is C"), "True");
}

TEST_F(PythonDriver, IsTheProgramForWhoeverAsks) {
  EXPECT_EQ(Out("import os, sys\n"
                "def main(): print('main')\n"
                "if __name__ == '__main__': main()\n"
                "if sys.argv[0] == __file__: main()\n"
                "if sys.modules['__main__'].__file__ == __file__: main()\n"
                "print(len(sys.argv), os.path.basename(__file__), os.path.isabs(__file__))"),
            "main\nmain\nmain\n1 main.py True\n");
  // Tracebacks still quote the lines of the run.
  EXPECT_THAT(driven_.Run("def f():\n  return 1 / 0\nf()").err, HasSubstr("    return 1 / 0\n"));
}

TEST_F(PythonDriver, FindsModulesInItsDirectory) {
  driven_.Run("import os; os.chdir('" + driven_.directory() +
              "')\n"
              "open('mine.py', 'w').write('answer = 42')\nopen('json.py', 'w').write('raise 1')");
  EXPECT_EQ(Value("import mine; mine.answer"), "42");
}

TEST_F(PythonDriver, EchoesTheLastExpressionWhenAsked) {
  EXPECT_EQ(driven_.Run("x = 2\nx + 1").value, "3");
  EXPECT_EQ(driven_.Run("x + 1", "-").value, "");
  EXPECT_EQ(Value("x + 1;"), "");
  EXPECT_EQ(Value("x = 5"), "");
  EXPECT_EQ(Value("None"), "");
  EXPECT_EQ(Value("'text'"), "'text'");
  EXPECT_EQ(Value("_ * 2"), "'texttext'");
  EXPECT_THAT(Value("'x' * 20000"), AllOf(SizeIs(10'000), HasSubstr("[20002 characters]")));
  const DrivenRun run = driven_.Run("class B:\n  def __repr__(self): raise ValueError('no')\nB()");
  EXPECT_EQ(run.error, "ValueError: no");
}

TEST_F(PythonDriver, AwaitsAtTheTopLevelInOneEventLoop) {
  EXPECT_EQ(Value("import asyncio\nqueue = asyncio.Queue()\nawait queue.put(7)\nloop = "
                  "asyncio.get_running_loop()\n"
                  "await asyncio.sleep(0, 'slept')"),
            "'slept'");
  EXPECT_EQ(Value("await queue.get(), loop is asyncio.get_running_loop()"), "(7, True)");
  EXPECT_EQ(Value("asyncio.run(asyncio.sleep(0, 8))"), "8");
  EXPECT_EQ(Value("await asyncio.sleep(0, 9)"), "9");
  EXPECT_EQ(Value("loop = asyncio.get_running_loop()\nawait asyncio.sleep(0, loop.is_running())"),
            "True")
      << "what stands before an await is in the loop as well";
}

TEST_F(PythonDriver, ShowsTracebacksOfTheUsersLinesOnly) {
  driven_.Run("def f(n):\n  return 1 / n");
  const DrivenRun run = driven_.Run("\nf(0)");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.error, "ZeroDivisionError: division by zero");
  EXPECT_THAT(run.err, AllOf(HasSubstr("File \"<run 2>\", line 2, in <module>\n    f(0)\n"),
                             HasSubstr("File \"<run 1>\", line 2, in f\n    return 1 / n\n"),
                             Not(HasSubstr("driver.py"))));
  const DrivenRun coroutine = driven_.Run("async def g():\n  raise KeyError('a\\nb')\nawait g()");
  EXPECT_EQ(coroutine.error, "KeyError: 'a\\nb'");
  EXPECT_THAT(coroutine.err, AllOf(HasSubstr("line 3, in <module>"), Not(HasSubstr("asyncio"))));
  EXPECT_EQ(driven_.Run("raise ValueError('a\\nb')").error, "ValueError: a b");
}

TEST_F(PythonDriver, ShowsSyntaxErrors) {
  const DrivenRun run = driven_.Run("x = 1\ny =");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("File \"<run 1>\", line 2\n    y ="));
  EXPECT_EQ(driven_.Run(std::string_view("x\0y", 3)).status, 1);
  EXPECT_EQ(driven_.Run("# \xff").status, 1);
  EXPECT_EQ(driven_.Run("1").value, "1");
}

TEST_F(PythonDriver, QuotesTheLinesOfTheLastHundredRuns) {
  driven_.Run("def old(): raise KeyError(1)");
  driven_.Run("def recent(): raise KeyError(2)");
  for (int i = 0; i < 98; ++i) driven_.Run("pass");
  EXPECT_THAT(driven_.Run("recent()").err, HasSubstr("def recent(): raise"));
  EXPECT_THAT(driven_.Run("old()").err, AllOf(HasSubstr("<run 1>"), Not(HasSubstr("def old()"))));
}

TEST_F(PythonDriver, QuotesLinesAsPythonDividesThem) {
  EXPECT_THAT(driven_.Run("x = 'a\u2028b'\ny = 1\nprint(1 / 0)").err,
              HasSubstr("line 3, in <module>\n    print(1 / 0)\n          ~~^~~\n"));
  EXPECT_THAT(driven_.Run("x = '''a\fb'''\r\n1 / 0").err,
              HasSubstr("line 2, in <module>\n    1 / 0\n    ~~^~~\n"));
}

TEST_F(PythonDriver, SendsTextAlthoughCodeHasHalvesOfCharacters) {
  EXPECT_EQ(driven_.Run("raise ValueError('\\ud800')").error, "ValueError: ?");
  const DrivenRun run = driven_.Run(
      "class A:\n  def __repr__(self): return 'A\\ud800'\n"
      "  def _repr_html_(self): return '<b>\\udfff'\n"
      "  def _repr_json_(self): return ['\\ud800']\nA()");
  EXPECT_EQ(run.value, "A?");
  ASSERT_THAT(run.parts, SizeIs(2));
  EXPECT_EQ(run.parts[0].data, "<b>?");
  EXPECT_EQ(run.parts[1].data, "[\"?\"]");
  EXPECT_EQ(Value("'\xc3\xbc \xf0\x9f\x90\xa7'"), "'\xc3\xbc \xf0\x9f\x90\xa7'");
}

TEST_F(PythonDriver, PrintsWhatIsNoTextAsPythonDoes) {
  EXPECT_EQ(driven_.Run("import sys\nprint('\\udcff', file=sys.stderr)").err, "\\udcff\n");
  EXPECT_EQ(Out("print('\\udcff')"), "\xff\n");
}

TEST_F(PythonDriver, EndsQuietlyWithoutItsChannel) {
  const DrivenRun run = driven_.Run("import os\nos.closerange(3, 256)\n1 / 0");
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, Not(HasSubstr("driver.py")));
}

TEST_F(PythonDriver, KeepsFutureStatements) {
  driven_.Run("from __future__ import annotations");
  EXPECT_EQ(Value("def f(x: undefined_name): pass\nf.__annotations__"), "{'x': 'undefined_name'}");
}

TEST_F(PythonDriver, EndsWithSystemExitAndItsCode) {
  const DrivenRun run = driven_.Run(
      "import sys, atexit\natexit.register(print, 'bye')\n"
      "sys.stdout.write('before ')\nsys.exit('reason')");
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "before bye\n");
  EXPECT_EQ(run.err, "reason\n");
  EXPECT_EQ(Driven("python").Run("import os; os._exit(9)").status, 9);
  EXPECT_EQ(Driven("python").Run("import os; os.execv('/bin/sh', ['sh', '-c', 'exit 6'])").status,
            6);
  EXPECT_EQ(Driven("python").Run("import os; os.kill(os.getpid(), 9)").status, 128 + 9);
}

TEST_F(PythonDriver, ShowsLinesWhileTheRunGoesOn) {
  driven_.Begin("print('first')\nimport signal\nsignal.pause()");
  EXPECT_TRUE(driven_.WaitForOutput("first\n"));
  driven_.Interrupt();
  EXPECT_TRUE(driven_.End().interrupted);
}

TEST_F(PythonDriver, FlushesWhateverCodeWroteThrough) {
  EXPECT_EQ(Out("import sys, os, io, ctypes\nsys.stdout.write('a')\n"
                "ctypes.CDLL(None).printf(b'c')\n"
                "own = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, 'w', closefd=False)))\n"
                "sys.stdout = own\nprint('b', end='')")
                .size(),
            3U);
  EXPECT_EQ(Out("sys.stdout = None\nprint('nowhere')"), "");
  EXPECT_EQ(driven_.Run("sys.stderr = 5\n1 / 0").error, "ZeroDivisionError: division by zero");
  EXPECT_EQ(Out("sys.stdout = sys.__stdout__\nprint('back')"), "back\n");
}

TEST_F(PythonDriver, LetsThreadsGoOnBetweenRuns) {
  driven_.Run(
      "import threading\nevent = threading.Event()\n"
      "thread = threading.Thread(target=lambda: (event.wait(), print('late')))\nthread.start()");
  EXPECT_EQ(Out("event.set()\nthread.join()"), "late\n");
}

TEST_F(PythonDriver, LetsNoForkAnswerInItsPlace) {
  const DrivenRun run = driven_.Run(
      "import os\nif os.fork() == 0:\n  print(os.listdir('/proc/self/fd'))\n"
      "else:\n  print(os.wait()[1])");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "['0', '1', '2', '3']\n0\n");
  EXPECT_EQ(Value("1"), "1");
  const DrivenRun again = driven_.Run(
      "if os.fork() == 0:\n  for n in range(20): os.dup2(1, 4 + n)\n"
      "  if os.fork() == 0:\n    print(len(os.listdir('/proc/self/fd')))\n"
      "  else:\n    os.wait()\n"
      "else:\n  print(os.wait()[1])");
  EXPECT_EQ(again.out, "24\n0\n") << "a fork of a fork keeps all of its files";
  EXPECT_EQ(again.err, "");
}

/// The child of an order to fork goes on only where it was copied to.
TEST_F(PythonDriver, LetsNoChildThatNobodyHeldTakeItsOrders) {
  driven_.Run("import os");
  driven_.Order("fork", "", "-");
  EXPECT_EQ(driven_.Run("print(os.waitstatus_to_exitcode(os.wait()[1]))").out, "1\n");
  EXPECT_EQ(Value("1"), "1");
}

TEST_F(PythonDriver, IsInterruptedWhereverItIs) {
  driven_.Run("kept = 'yes'\nimport asyncio, time");
  ExpectInterruptible("while True: pass");
  ExpectInterruptible("time.sleep(1000)");
  ExpectInterruptible("await asyncio.sleep(1000)");
  ExpectInterruptible("asyncio.run(asyncio.sleep(1000))");
  ExpectInterruptible("await asyncio.sleep(0)\nwhile True: pass");
}

TEST_F(PythonDriver, IsInterruptedInOtherTasksAndCallbacks) {
  driven_.Run("kept = 'yes'\nimport asyncio");
  for (const std::string code :
       {"async def busy():\n  print('go')\n  while True: pass\nawait asyncio.gather(busy())",
        "def busy():\n  print('go')\n  while True: pass\n"
        "asyncio.get_running_loop().call_soon(busy)\nawait asyncio.sleep(1000)"}) {
    driven_.Begin(code);
    ASSERT_TRUE(driven_.WaitForOutput("go\n")) << code;
    driven_.Interrupt();
    EXPECT_TRUE(driven_.End().interrupted) << code;
    EXPECT_EQ(Value("await asyncio.sleep(0, kept)"), "'yes'") << code;
  }
}

TEST_F(PythonDriver, IsInterruptedAtAnyStepOfTheEventLoop) {
  // Strikes at the n-th instruction after the user's code began to wait. Its file name is not one
  // of a run's, so that it does not pass for the user's code itself.
  driven_.Run(
      "import asyncio, os, sys\nkept = 'yes'\nexec(compile('''\n"
      "class Strike:\n"
      "  def __init__(self, at):\n"
      "    self.left = at\n"
      "    frame = sys._getframe(2)\n"
      "    while frame:\n"
      "      frame.f_trace, frame.f_trace_opcodes = self, True\n"
      "      frame = frame.f_back\n"
      "    sys.settrace(self)\n"
      "  def __call__(self, frame, event, _):\n"
      "    frame.f_trace_opcodes = True\n"
      "    self.left -= event == 'opcode'\n"
      "    if self.left == 0:\n"
      "      sys.settrace(None)\n"
      "      os.kill(os.getpid(), 2)\n"
      "    return self\n''', '<strike>', 'exec'))");
  for (int at = 1; at < 250; at += 3) {
    const DrivenRun run =
        driven_.Run("Strike(" + std::to_string(at) + ")\nawait asyncio.sleep(1000)");
    ASSERT_TRUE(run.interrupted) << at << run.error;
    ASSERT_EQ(Value("await asyncio.sleep(0, kept)"), "'yes'") << at;
  }
}

TEST_F(PythonDriver, IsInterruptedAlthoughATaskRefusesToBeCancelled) {
  const DrivenRun run = driven_.Run(
      "import asyncio, os\ncount = 0\nwhile True:\n"
      "  asyncio.get_running_loop().call_later(0, os.kill, os.getpid(), 2)\n"
      "  try: await asyncio.sleep(1000)\n"
      "  except asyncio.CancelledError: count += 1");
  EXPECT_TRUE(run.interrupted);
  EXPECT_EQ(Value("await asyncio.sleep(0, count)"), "2");
}

TEST_F(PythonDriver, AwaitsInANewEventLoopWhenTheFirstWasClosed) {
  EXPECT_EQ(Value("import asyncio\nawait asyncio.sleep(0, 1)"), "1");
  driven_.Run("asyncio.get_event_loop_policy().get_event_loop().close()");
  EXPECT_EQ(Value("await asyncio.sleep(0, 2)"), "2");
}

TEST_F(PythonDriver, KeepsSignalHandlersOfTheUser) {
  driven_.Run(
      "import signal, os\ncount = 0\ndef handle(*_):\n  global count\n  count += 1\n  raise "
      "KeyError('mine')\n"
      "signal.signal(signal.SIGUSR1, handle); signal.signal(signal.SIGINT, handle);");
  EXPECT_EQ(driven_.Run("os.kill(os.getpid(), signal.SIGUSR1)").error, "KeyError: 'mine'");
  EXPECT_EQ(driven_.Run("os.kill(os.getpid(), signal.SIGINT)").error, "KeyError: 'mine'");
  driven_.Interrupt();  // between runs it is nobody's
  EXPECT_THAT(Value("count"), ::testing::AnyOf("2", ""));
  // One that fails while the driver waits: told, and survived.
  driven_.Run(
      "r, w = os.pipe()\nif (child := os.fork()) == 0:\n  os.read(r, 1)\n"
      "  os.kill(os.getppid(), signal.SIGUSR1)\n  os._exit(0)");
  EXPECT_EQ(driven_.Run("try:\n  os.write(w, b'x')\n  os.waitpid(child, 0)\nexcept KeyError: pass")
                .status,
            0);
  EXPECT_EQ(Value("'alive'"), "'alive'");
}

/// It is nobody's: the channel is not its own, and no program ends in it.
TEST_F(PythonDriver, EndsAForkThatWasMadeWhileItWaited) {
  driven_.Run(R"py(
import atexit, os, signal
atexit.register(print, "left")
def handle(*_):
    global child
    child = os.fork()
    if child: open(os.environ["HOME"] + "/forked", "w").close()
signal.signal(signal.SIGUSR1, handle)
me = os.getpid()
if os.fork() == 0:
    while open(f"/proc/{me}/stat").read().rpartition(")")[2].split()[0] != "S": pass
    os.kill(me, signal.SIGUSR1)
    os._exit(0)
)py");
  // By the handler: a run that came before it would be the one that it forks.
  const std::string forked = driven_.directory() + "/forked";
  ASSERT_TRUE(igloo::testing::WaitFor([&] { return std::filesystem::exists(forked); }));
  const DrivenRun run = driven_.Run("os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])");
  EXPECT_EQ(run.value, "1");
  EXPECT_EQ(run.out + run.err, "");
}

/// One of its two numbers is enough to do without: it neither waits for nothing nor complains for
/// ever.
TEST_F(PythonDriver, EndsWhenItHearsNoMoreOrders) {
  driven_.Run(R"py(
import os, stat
for fd in range(3, 64):
    try:
        if stat.S_ISFIFO(os.fstat(fd).st_mode): os.close(fd)
    except OSError: continue
    break
)py");
  EXPECT_EQ(driven_.WaitForEnd(), 1);
}

TEST_F(PythonDriver, ImportsNothingOfTheUsersLibraries) {
  EXPECT_EQ(Value("import sys\n[m for m in ('asyncio', 'matplotlib', 'PIL', 'pandas', 'numpy', "
                  "'ctypes') if m in sys.modules]"),
            "[]");
}

}  // namespace
}  // namespace igloo::language
