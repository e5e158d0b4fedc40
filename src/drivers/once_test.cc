// Code as the whole program of an interpreter: it does what the same file does when it is started.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/driven.h"
#include "support/igloo.h"

namespace igloo::drivers {
namespace {

using igloo::testing::Driven;
using igloo::testing::DrivenRun;
using igloo::testing::Outcome;
using igloo::testing::RunProgram;

struct Program {
  std::string name = {};
  std::string code = {};
};

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }
std::string NameOf(const ::testing::TestParamInfo<Program>& info) { return info.param.name; }

/// Without the calls of an interpreter's own that led to the user's: those cannot be the same.
std::string WithoutOwnFrames(const std::string& text) {
  std::string kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool own = line.starts_with("    at ") &&
                     (line.find("node:") != line.npos || line.find("/driver.js:") != line.npos);
    if (!own) kept += line + "\n";
  }
  return kept;
}

class Once : public ::testing::TestWithParam<Program> {
 protected:
  static void Compare(std::string_view interpreter, const std::string& program,
                      const std::string& code) {
    std::string flags = igloo::testing::OnceFlags(interpreter, code);
    CompareWith(flags, interpreter, program, code);
    // The order may be a short one (see Driven::Begin), and need not be.
    if (flags.contains("plain")) CompareWith(flags + ",filed", interpreter, program, code);
    CompareWith(flags.insert(4, ",filed"), interpreter, program, code);
  }

 private:
  static void CompareWith(const std::string& flags, std::string_view interpreter,
                          const std::string& program, const std::string& code) {
    SCOPED_TRACE(flags);
    Driven driven(interpreter);
    if (flags.contains("filed")) std::ofstream(driven.code_file()) << code;
    const DrivenRun run = driven.Run(code, flags);
    std::ofstream(driven.code_file()) << code;
    const Outcome plain = RunProgram({.program = program,
                                      .args = {driven.code_file()},
                                      .env = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"}});
    EXPECT_EQ(run.status, plain.status) << run.err;
    EXPECT_EQ(run.out, plain.out);
    EXPECT_EQ(WithoutOwnFrames(run.err), WithoutOwnFrames(plain.err));
  }
};

class PythonOnce : public Once {};
TEST_P(PythonOnce, IsAsAProgram) { Compare("python", "/usr/bin/python3", GetParam().code); }

std::vector<Program> PythonPrograms() {
  return {
      {"Prints", "print('x', end='')"},
      {"Nothing", ""},
      {"EchoesNothing", "1 + 1"},
      {"ExitCode", "import sys; sys.exit(3)"},
      {"ExitLarge", "import sys; sys.exit(256 + 7)"},
      {"ExitNegative", "import sys; sys.exit(-1)"},
      {"ExitText", "import sys; sys.exit('why')"},
      {"ExitNone", "import sys; sys.exit()"},
      {"ExitObject", "raise SystemExit([1, 2])"},
      {"ExitAtOnce", "import os; print('lost?', flush=True); os._exit(5)"},
      {"Error", "def f():\n    return 1 / 0\n\nprint('before')\nf()\n"},
      {"ErrorChain", "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('b') from e"},
      {"SyntaxError", "x = 1\nx = = 2\n"},
      {"Thread",
       "import threading, time\n"
       "threading.Thread(target=lambda: (time.sleep(0.05), print('late'))).start()\nprint('main')"},
      {"DaemonThread",
       "import threading, time\n"
       "threading.Thread(target=time.sleep, args=(100,), daemon=True).start()\nprint('main')"},
      {"ThreadThatFails",
       "import threading\n"
       "t = threading.Thread(target=print, args=('t',)); t.start(); t.join(); raise SystemExit(4)"},
      {"ExitHandlers",
       "import atexit\natexit.register(print, 'first')\natexit.register(print, "
       "'second')\nprint(1)"},
      {"ExitHandlersAfterAnError",
       "import atexit\natexit.register(print, 'bye')\nraise KeyError(1)"},
      {"ExitHandlersAfterExit",
       "import atexit, sys\natexit.register(print, 'bye')\nsys.exit('text')"},
      {"OwnFile",
       "import sys, os\nprint(os.path.basename(__file__), sys.argv == [__file__], "
       "sys.path[0] == os.path.dirname(__file__))"},
      {"OwnSource",
       "import inspect\nprint(open(__file__).read())\ndef f(): pass\n"
       "print(inspect.getsource(f), __name__)"},
      {"Main", "if __name__ == '__main__':\n    print('main')"},
      {"Await",
       "import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    return 5\n"
       "print(asyncio.run(main()))"},
      {"Pool",
       "from concurrent.futures import ThreadPoolExecutor\n"
       "with ThreadPoolExecutor(3) as pool: print(list(pool.map(abs, [-1, -2])))"},
      {"Killed", "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)"},
      {"OwnHook", "import sys\nsys.excepthook = lambda *a: print('mine', a[1])\nraise KeyError(1)"},
      {"ClosedOutput", "import sys\nprint('x')\nsys.stdout.close()"},
      {"Unflushed", "import sys\nsys.stdout.write('no newline'); sys.stderr.write('nor here')"},
  };
}
INSTANTIATE_TEST_SUITE_P(Programs, PythonOnce, ::testing::ValuesIn(PythonPrograms()), NameOf);

class NodeOnce : public Once {};
TEST_P(NodeOnce, IsAsAProgram) { Compare("node", "/usr/bin/node", GetParam().code); }

std::vector<Program> NodePrograms() {
  return {
      {"Prints", "console.log('x'); console.error('y')"},
      {"EchoesNothing", "1 + 1"},
      {"ExitCode", "process.exit(3)"},
      {"ExitCodeSet", "process.exitCode = 4; console.log(1)"},
      {"Timers", "setTimeout(() => console.log('late'), 20); console.log('first')"},
      {"UnreferencedTimer", "setTimeout(() => console.log('never'), 100000).unref()"},
      {"Interval",
       "let n = 0; const t = setInterval(() => { if (++n === 3) clearInterval(t); "
       "console.log(n); }, 1)"},
      {"ExitHandlers", "process.on('exit', (c) => console.log('bye', c)); process.exitCode = 2"},
      {"BeforeExit",
       "process.once('beforeExit', () => { console.log('before'); "
       "setTimeout(() => console.log('more'), 1); })"},
      {"Error", "function f() { throw new TypeError('broken'); }\nconsole.log(1);\nf();\n"},
      {"ThrownText", "throw 'text'"},
      {"Rejection", "Promise.reject(new Error('no'))"},
      {"CaughtLate",
       "process.on('uncaughtException', (e) => console.log('mine', e.message)); "
       "throw new Error('x')"},
      {"SyntaxError", "const x = 1;\nconst = 2;\n"},
      {"OwnFile",
       "const path = require('path'); console.log(path.basename(__filename), "
       "process.argv.length, process.argv[1] === __filename, require.main === module)"},
      {"OwnSource", "console.log(require('fs').readFileSync(__filename, 'utf8'))"},
      {"Strictness", "undeclared = 1; console.log(typeof globalThis.undeclared, this === exports)"},
      {"Child", "console.log(String(require('child_process').execSync('echo hi')))"},
      {"Killed", "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 10000)"},
      {"Abort", "process.on('exit', () => { throw new Error('late') })"},
      {"Module",
       "console.log(require.main === module, module.id, module.loaded, module.parent, "
       "module.children,\n"
       "  module.paths, require.cache[__filename] === module, Object.keys(require.cache).length,\n"
       "  process.mainModule === module, require('path').basename(module.filename));\n"
       "setTimeout(() => console.log(module.loaded))"},
      {"OtherModule", "import fs from 'fs'; console.log(typeof fs)"},
      {"DynamicImport", "import('node:path').then((path) => console.log(path.sep))"},
      {"TopLevelAwait", "await null; console.log(1)"},
      {"Hashbang", "#!/usr/bin/env node\nconsole.log(new Error().stack.split('\\n')[1])"},
      {"NamesOfItsOwn", "const __dirname = '/x', module = 1; console.log(__dirname, module)"},
      {"DeclaresAnotherLine", "let a\nlet { require } = { require: 5 }\nconsole.log(require, a)"},
      {"WriteThatFails",
       "process.stdout.write = () => { throw new Error('w') }; console.log(1); console.error(2)"},
      {"WriteOfItsOwn",
       "const args = []; process.stdout.write = (...all) => { args.push(all.length); return true "
       "};\n"
       "console.log(1); console.error(args)"},
      {"OwnConsole", "new console.Console(process.stdout).log(1, Object.keys(console).length)"},
      {"ReturnAtTop", "console.log(1); return; console.log(2)"},
      {"SigintKills", "process.kill(process.pid, 'SIGINT'); setTimeout(() => {}, 10000)"},
      {"AsyncMain", "(async () => { await null; console.log('after'); process.exit(6) })()"},
  };
}
INSTANTIATE_TEST_SUITE_P(Programs, NodeOnce, ::testing::ValuesIn(NodePrograms()), NameOf);

class BashOnce : public Once {};
TEST_P(BashOnce, IsAsAProgram) { Compare("bash", "/bin/bash", GetParam().code); }

std::vector<Program> BashPrograms() {
  return {
      {"WithoutEcho", "enable -n echo; echo out"},
      {"WithoutPrintf", "enable -n printf; printf out"},
      {"Prints", "echo x; echo y >&2"},
      {"Nothing", ""},
      {"LastStatus", "true; false"},
      {"ExitCode", "exit 3"},
      {"ExitInFunction", "f() { exit 4; }; f; echo never"},
      {"ExitInSubshell", "(exit 5); echo $?"},
      {"Errexit", "set -e\necho one\nfalse\necho never"},
      {"ErrexitInFunction", "set -e\nf() { false; echo never; }\nf\n"},
      {"Pipefail", "set -o pipefail\nfalse | true\necho $?"},
      {"ExitTrap", "trap 'echo bye $?' EXIT\necho one\nexit 6"},
      {"ExitTrapAtTheEnd", "trap 'echo bye' EXIT\necho one"},
      {"ErrTrap", "trap 'echo failed' ERR\nfalse\necho on"},
      {"ExitTrapAfterErrexit", "set -e; trap 'echo bye' EXIT; false"},
      {"OwnName", "basename \"$0\"; echo $# ${#BASH_SOURCE[@]}"},
      {"OwnSource", "cat \"$0\""},
      {"SyntaxError", "echo one\nif then\n"},
      {"NoSuchCommand", "echo one\nno_such_command_here\necho $?"},
      {"Killed", "kill -TERM $$; echo never"},
      {"Background", "sleep 0.05 & wait; echo done"},
      {"Exec", "exec echo replaced"},
      {"Alias", "alias ll='echo listed'\nll"},
      {"HereDocument", "cat <<END\n$((1 + 1))\nEND"},
      {"UnfinishedQuote", "echo 'open"},
      {"LineNumbers", "echo $LINENO\necho $LINENO"},
      {"Unbound", "set -u; echo $nothing; echo on"},
      {"Return", "return 7; echo on"},
      {"OwnSeparator", "IFS=,; x=a,b; echo $x"},
      {"Traced", "set -ex; echo one"},
      {"ClosedStreams", "echo one; exec >&- 2>&-"},
  };
}
INSTANTIATE_TEST_SUITE_P(Programs, BashOnce, ::testing::ValuesIn(BashPrograms()), NameOf);

TEST(OnceOfPython, AFileThatCannotBeWrittenIsNoReasonToFail) {
  Driven driven("python");
  std::filesystem::remove(driven.code_file());
  std::filesystem::create_directory(driven.code_file());
  const DrivenRun run = driven.Run("print(1)", "once");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "1\n");
}

TEST(OnceOfPython, IsInterrupted) {
  Driven driven("python");
  driven.Begin("print('go', flush=True)\nwhile True: pass", "once");
  ASSERT_TRUE(driven.WaitForOutput("go"));
  const DrivenRun run = driven.EndByInterrupts();
  EXPECT_EQ(run.status, 130);
  EXPECT_THAT(run.err, ::testing::HasSubstr("KeyboardInterrupt"));
}

}  // namespace
}  // namespace igloo::drivers
