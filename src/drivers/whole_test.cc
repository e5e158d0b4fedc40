// Code that is the whole program of an interpreter (flag "once"): it has to go as it goes without a
// driver.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/file.h"
#include "support/driven.h"

namespace igloo::drivers {
namespace {

using igloo::testing::Driven;
using igloo::testing::DrivenRun;
using ::testing::HasSubstr;

DrivenRun Python(std::string_view code) { return Driven("python").Run(code, "once"); }

/// What the code left in `file`, whose name it finds as `path`.
std::string Left(const std::string& code) {
  Driven driven("python");
  const std::string path = driven.directory() + "/left";
  const DrivenRun run = driven.Run("path = '" + path + "'\n" + code, "once");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  return ReadFile(path, 1 << 20).value_or("nothing");
}

TEST(WholePython, LosesNothingOfFilesThatStayOpen) {
  EXPECT_EQ(Left("f = open(path, 'w')\nf.write('hello')"), "hello");
  EXPECT_EQ(Left("import csv\nw = csv.writer(open(path, 'w'))\nw.writerow([1, 2])"), "1,2\r\n");
  EXPECT_EQ(Left("import sys\nsys.kept = f = open(path, 'w')\nf.write('hello')"), "hello");
  EXPECT_EQ(Left("import threading\nf = open(path, 'w')\nf.write('hello')\n"
                 "def wait():\n  threading.Event().wait()\n  f.write('never')\n"
                 "threading.Thread(target=wait, daemon=True).start()"),
            "hello");
}

TEST(WholePython, EndsWhatPacksFiles) {
  for (const std::string keep : {"", "import sys\nsys.kept = f\n"}) {
    Driven driven("python");
    const std::string path = driven.directory() + "/left.gz";
    driven.Run("import gzip\nf = gzip.open('" + path + "', 'wt')\nf.write('hello')\n" + keep,
               "once");
    EXPECT_EQ(Driven("bash").Run("gzip -dc " + path).out, "hello") << keep;
  }
}

TEST(WholePython, FinalizesWhatTheProgramMade) {
  EXPECT_EQ(Python("class A:\n  def __del__(self): print('del', helper())\na = A()\n"
                   "def helper(): return 5")
                .out,
            "del 5\n");
  EXPECT_EQ(Python("def g():\n  try: yield\n  finally: print('finally')\nx = g(); next(x)").out,
            "finally\n");
  const DrivenRun failed = Python("class A:\n  def __del__(self): print('del')\na = A()\n1 / 0");
  EXPECT_EQ(failed.out, "del\n");
  EXPECT_EQ(failed.status, 1);
  EXPECT_EQ(Python("import atexit\nclass A:\n  def __del__(self): print('del')\na = A()\n"
                   "atexit.register(print, 'exit')\nimport sys\nsys.exit(4)")
                .out,
            "exit\ndel\n");
}

TEST(WholePython, ReadsCodeAsAFile) {
  EXPECT_EQ(Python("\xef\xbb\xbfprint(1)").out, "1\n");
  EXPECT_EQ(Python("# -*- coding: latin-1 -*-\nprint(len('\xc3\xa9'))").out, "2\n");
}

TEST(WholePython, LooksLikeAScript) {
  Driven driven("python");
  const std::string file = driven.code_file();
  EXPECT_EQ(driven.Run("import sys\nprint(sys.orig_argv, sys.argv)\nprint(*globals())", "once").out,
            "['/usr/bin/python3', '" + file + "'] ['" + file +
                "']\n__name__ __doc__ __package__ __loader__ __spec__ __annotations__ "
                "__builtins__ __file__ __cached__ sys\n");
  EXPECT_EQ(Python("import sys\nprint('' in sys.path, __cached__, __annotations__)").out,
            "False None {}\n");
}

TEST(WholePython, SaysNothingWhereNobodyListens) {
  const DrivenRun run = Python("import sys\nsys.stderr = None\n1 / 0");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out + run.err, "");
}

TEST(WholePython, EndsQuietlyWithoutItsChannel) {
  const DrivenRun run = Python("import os, sys\nprint('x')\nos.closerange(3, 256)\nsys.exit(3)");
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.out, "x\n");
  EXPECT_EQ(run.err, "");
  // The number may be another file's by then.
  EXPECT_EQ(Left("import os\nos.closerange(3, 256)\nf = [open(path, 'w') for _ in range(20)]"), "");
}

DrivenRun Bash(std::string_view code) {
  return Driven("bash").Run(code, igloo::testing::OnceFlags("bash", code));
}

TEST(WholeBash, FailsAsAScriptForVariablesThatAreNotSet) {
  for (const std::string code :
       {"set -u; echo $nope; echo after", "set -euo pipefail\necho \"$nope\"\necho after",
        "set -o nounset; echo $nope; echo after", ": \"${nope:?}\"; echo after",
        ": \"${nope?is not set}\"; echo after"}) {
    const DrivenRun run = Bash(code);
    EXPECT_EQ(run.status, 1) << code;
    EXPECT_EQ(run.out, "") << code;
    EXPECT_THAT(run.err, HasSubstr("nope: ")) << code;
  }
}

TEST(WholeBash, KnowsWhereReturnIsAllowed) {
  const DrivenRun run = Bash("return 3\necho \"after $?\"");
  EXPECT_EQ(run.out, "after 2\n");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, HasSubstr("main.js: line 1: return: can only"));
  // In functions it is, and then no other shell is needed.
  const DrivenRun function =
      Bash("f() { return 3; }\nf; echo $?; ${1+set}; printf '%s?' x | sort -u");
  EXPECT_EQ(function.out, "3\nx?\n");
  EXPECT_FALSE(function.ended);
}

TEST(WholeBash, KeepsItsStatusWithoutItsChannel) {
  const std::string code =
      "for f in /proc/$$/fd/*; do f=${f##*/}; [ $f -gt 2 ] && eval \"exec $f>&-\"; done\n"
      "echo hi; (exit 3)";
  Driven driven("bash");
  std::ofstream(driven.code_file()) << code;
  const DrivenRun run = driven.Run(code, "once,filed,plain");
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.out, "hi\n");
}

TEST(WholeBash, KeepsItsStatusWithoutTheCommandThatTellsIt) {
  const std::string code = "enable -n echo; (exit 3)";
  Driven driven("bash");
  std::ofstream(driven.code_file()) << code;
  const DrivenRun run = driven.Run(code, "once,filed,plain");
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.status, 3);
}

TEST(WholeBash, RunsLargeCode) {
  EXPECT_EQ(Bash("# " + std::string(100'000, 'x') + "\necho \"$# $-\"").out, "0 hB\n");
}

}  // namespace
}  // namespace igloo::drivers
