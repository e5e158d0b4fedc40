#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/driven.h"

namespace igloo::language {
namespace {

using igloo::testing::Driven;
using igloo::testing::DrivenRun;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class NodeDriver : public ::testing::Test {
 protected:
  std::string Value(std::string_view code) { return driven_.Run(code).value; }

  Driven driven_ = Driven("node");
};

TEST_F(NodeDriver, KeepsWhatCodeDeclared) {
  driven_.Run(
      "const a = 1; let b = 2; var c = 3; class D { e = 4 }\nfunction f(x) {\n  return x * 2\n}");
  EXPECT_EQ(Value("[a, b, c, new D().e, f(5)]"), "[ 1, 2, 3, 4, 10 ]");
}

TEST_F(NodeDriver, LetsALaterRunDeclareANameAgain) {
  driven_.Run("const a = 1; let b = 1; class C {}; function f() { return 1 }");
  const DrivenRun run =
      driven_.Run("const a = 2; let b = 2; class C { x = 2 }; function f() { return 2 }");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(Value("[a, b, new C().x, f()]"), "[ 2, 2, 2, 2 ]");
}

TEST_F(NodeDriver, IsTheProgramForWhoeverAsks) {
  EXPECT_EQ(Value("[require.main === module, process.argv[1] === __filename, process.argv.length,"
                  " require.main.filename === __filename, require('path').basename(__filename)]"),
            "[ true, true, 2, true, 'main.js' ]");
}

TEST_F(NodeDriver, EchoesTheLastValueWhenAsked) {
  EXPECT_EQ(driven_.Run("1 + 1").value, "2");
  EXPECT_EQ(driven_.Run("1 + 1", "-").value, "");
  EXPECT_EQ(Value("'text'"), "'text'");
  EXPECT_EQ(Value("{a: 1, b: [2]}"), "{ a: 1, b: [ 2 ] }");
  EXPECT_EQ(Value("10n"), "10n");
  EXPECT_EQ(Value("-0"), "-0");
  EXPECT_EQ(Value("Symbol('s')"), "Symbol(s)");
  EXPECT_EQ(Value("undefined"), "");
  EXPECT_EQ(Value("const q = 1"), "");
  EXPECT_EQ(Value("new Proxy({}, {get() { throw 1 }})"), "{}");
  EXPECT_THAT(Value("'x'.repeat(20000)"),
              ::testing::AllOf(SizeIs(::testing::Le(10'000U)), HasSubstr("10100 more characters")));
  EXPECT_THAT(Value("Array.from({length: 3000}, () => 'wordy words')"),
              SizeIs(::testing::Le(10'000U)));
}

TEST_F(NodeDriver, SendsTextAlthoughCodeHasHalvesOfCharacters) {
  const std::string instead = "\xef\xbf\xbd";
  EXPECT_EQ(driven_.Run("throw new Error('\\ud800')").error, "Error: " + instead);
  const DrivenRun run = driven_.Run(
      "igloo.display('\\udfff'); igloo.display(['\\ud800', '\\\\ud800']);\n"
      "({ [Symbol.for('nodejs.util.inspect.custom')]: () => '\\ud800' })");
  EXPECT_EQ(run.value, instead);
  ASSERT_THAT(run.parts, SizeIs(2));
  EXPECT_EQ(run.parts[0].data, instead);
  EXPECT_EQ(run.parts[1].data, "[\"" + instead + "\",\"\\\\ud800\"]");
  EXPECT_EQ(Value("'\xf0\x9f\x90\xa7'"), "'\xf0\x9f\x90\xa7'");
}

TEST_F(NodeDriver, AwaitsAtTheTopLevel) {
  EXPECT_EQ(Value("const v = await new Promise((done) => setTimeout(done, 1, 7)); v + 1"), "8");
  EXPECT_EQ(Value("v"), "7");
  const DrivenRun run = driven_.Run("console.log(await Promise.resolve('printed'))");
  EXPECT_EQ(run.out, "printed\n");
}

TEST_F(NodeDriver, ShowsErrorsWithTheUsersLinesOnly) {
  driven_.Run("function inner(x) {\n  return x.y.z\n}");
  const DrivenRun run = driven_.Run("\ninner({})");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.error, "TypeError: Cannot read properties of undefined (reading 'z')");
  EXPECT_EQ(run.err,
            "<run 1>:2\n  return x.y.z\n             ^\n\n"
            "TypeError: Cannot read properties of undefined (reading 'z')\n"
            "    at inner (<run 1>:2:14)\n    at <run 2>:2:1\n");
}

TEST_F(NodeDriver, ShowsStacksThatCodePrintsItselfWithoutTheDriver) {
  const DrivenRun run = driven_.Run("try { null.x } catch (e) { console.log(e.stack) }");
  EXPECT_EQ(run.out,
            "TypeError: Cannot read properties of null (reading 'x')\n    at <run 1>:1:12\n");
  EXPECT_EQ(run.status, 0);
}

TEST_F(NodeDriver, ShowsSyntaxErrorsWithTheirPlace) {
  const DrivenRun run = driven_.Run("let a = 1\nlet b = ;");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err, "<run 1>:2\nlet b = ;\n        ^\n\nSyntaxError: Unexpected token ';'\n");
}

TEST_F(NodeDriver, ReportsWhateverIsThrown) {
  EXPECT_EQ(driven_.Run("throw 5").error, "Uncaught 5");
  EXPECT_EQ(driven_.Run("throw null").status, 1);
  EXPECT_EQ(driven_.Run("throw {toString() { throw 1 }}").status, 1);
  const DrivenRun run =
      driven_.Run("throw Object.assign(new Error('a\\nb', {cause: 7}), {code: 'E'})");
  EXPECT_EQ(run.error, "Error: a b");
  EXPECT_THAT(run.err, ::testing::AllOf(HasSubstr("code: 'E'"), HasSubstr("[cause]: 7")));
}

TEST_F(NodeDriver, DoesNotTakeTheWordUncaughtForAnError) {
  const DrivenRun run = driven_.Run("console.error('Uncaught'); 1");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "Uncaught\n");
}

TEST_F(NodeDriver, ReportsRejectionsAndLateErrorsWithTheRunAndLives) {
  DrivenRun run = driven_.Run("let kept = 1; Promise.reject(new Error('nobody')); 2");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.error, "Error: nobody");
  EXPECT_THAT(run.err, HasSubstr("at <run 1>:1:30"));
  run = driven_.Run(
      "await new Promise((done) => setTimeout(() => { setTimeout(done, 1); throw new Error('late') "
      "}, 1))");
  EXPECT_EQ(run.error, "Error: late");
  EXPECT_EQ(Value("kept"), "1");
}

TEST_F(NodeDriver, LetsTimersGoOnBetweenRuns) {
  const DrivenRun first = driven_.Run(
      "let ring; const rung = new Promise((done) => { ring = done });\n"
      "setTimeout(() => { console.log('late'); ring() }, 1)",
      "-");
  const DrivenRun second = driven_.Run("await rung");
  EXPECT_EQ(first.out + second.out, "late\n");
}

TEST_F(NodeDriver, ImportsFromItsDirectory) {
  driven_.Run("process.chdir('" + driven_.directory() + "')");
  EXPECT_EQ(driven_
                .Run("const fs = require('fs'); fs.writeFileSync('m.mjs', 'export const m = 1');"
                     "fs.writeFileSync('c.js', 'exports.c = 2')")
                .status,
            0);
  EXPECT_EQ(Value("(await import('./m.mjs')).m"), "1");
  EXPECT_EQ(Value("typeof (await import('node:fs')).readFileSync"), "'function'");
  // What only talks of it stays as it is.
  EXPECT_EQ(Value("[\"import(1)\", `import(${(await import ('./m.mjs')).m})`, "
                  "/['`]import\\(/.source] // import(2)"),
            "[ 'import(1)', 'import(1)', \"['`]import\\\\(\" ]");
  const DrivenRun run = driven_.Run("import fs from 'fs'");
  EXPECT_THAT(run.err, HasSubstr("await import('module')"));
}

TEST_F(NodeDriver, IsInterruptedInLoopsAndWhileItWaits) {
  driven_.Run("let kept = 1");
  for (const std::string code : {"console.log('go'); while (true) {}",
                                 "console.log('go'); try { for (;;); } finally { for (;;); }",
                                 "await null; console.log('go'); await new Promise(() => {})"}) {
    driven_.Begin(code);
    ASSERT_TRUE(driven_.WaitForOutput("go\n"));
    driven_.Interrupt();
    const DrivenRun run = driven_.End();
    EXPECT_EQ(run.status, 130) << code;
    EXPECT_TRUE(run.interrupted) << code;
  }
  EXPECT_EQ(Value("kept"), "1");
}

TEST_F(NodeDriver, DisplaysWhatItIsGiven) {
  const DrivenRun run = driven_.Run(
      "igloo.display(Buffer.from([0x89, 0x50])); igloo.display(new Uint8Array([0xff, 0xd8]));"
      "igloo.display('<b>', 'text/html'); igloo.display({a: 1}); igloo.display('words')");
  ASSERT_THAT(run.parts, SizeIs(5));
  const auto is = [&](std::size_t i, const std::string& type, const std::string& data,
                      const std::string& encoding) {
    EXPECT_EQ(run.parts[i].type, type);
    EXPECT_EQ(run.parts[i].data, data);
    EXPECT_EQ(run.parts[i].encoding, encoding);
  };
  is(0, "image/png", "iVA=", "base64");
  is(1, "image/jpeg", "/9g=", "base64");
  is(2, "text/html", "<b>", "utf-8");
  is(3, "application/json", "{\"a\":1}", "utf-8");
  is(4, "text/plain", "words", "utf-8");
}

TEST_F(NodeDriver, LeavesOutPartsThatAreTooLarge) {
  const DrivenRun run =
      driven_.Run("igloo.display(Buffer.alloc(9e6)); igloo.display(Buffer.alloc(6e6))");
  ASSERT_THAT(run.parts, SizeIs(2));
  EXPECT_EQ(run.parts[0].type, "text/plain");
  EXPECT_THAT(run.parts[0].data, HasSubstr("left out"));
  EXPECT_THAT(run.parts[1].data, SizeIs(8'000'000));
}

TEST_F(NodeDriver, SendsLargePartsInPiecesOfWholeCharacters) {
  const DrivenRun run =
      driven_.Run("igloo.display(('x'.repeat(131071) + '\\u{1f600}\\x01').repeat(8), 'text/html')");
  ASSERT_THAT(run.parts, SizeIs(1));
  std::string expected;
  for (int i = 0; i < 8; ++i) expected += std::string(131071, 'x') + "\U0001f600\1";
  EXPECT_TRUE(run.parts[0].data == expected);
}

TEST_F(NodeDriver, TakesTheExitCodeThatCodeSetForItsStatus) {
  EXPECT_EQ(driven_.Run("process.exitCode = 4").status, 4);
  EXPECT_EQ(driven_.Run("1").status, 0);
}

}  // namespace
}  // namespace igloo::language
