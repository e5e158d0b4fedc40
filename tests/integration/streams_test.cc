// The standard streams are files that a program may open again by name, as anywhere: what Node's
// readFileSync('/dev/stdin') and the shell's `> /dev/stderr` do.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "base/temp_dir.h"
#include "base/text.h"
#include "support/igloo.h"
#include "support/mcp.h"
#include "support/terminal.h"

namespace igloo::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// What a program's input is.
enum class Input { kNothing, kPipe, kFile };

/// One program for each interpreter: reads its input by each name, writes to its output by each,
/// and says what it read. A second reading finds the end of a pipe.
struct Language {
  const char* environment;
  const char* code;
};
constexpr Language kLanguages[] = {
    {"shell",
     "for name in /dev/stdin /dev/fd/0 /proc/self/fd/0; do echo \"[$(cat $name)]\"; done\n"
     "for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do echo \"to $name\" >>$name; done\n"
     "for name in /dev/stderr /dev/fd/2 /proc/self/fd/2; do echo \"to $name\" >$name; done\n"},
    {"python",
     "names = lambda *ends: ['/dev/' + ends[0], f'/dev/fd/{ends[1]}', f'/proc/self/fd/{ends[1]}']\n"
     "for name in names('stdin', 0):\n"
     "  with open(name) as file: print(f'[{file.read().strip()}]', flush=True)\n"
     "for name in names('stdout', 1) + names('stderr', 2):\n"
     "  with open(name, 'w') as file: print('to', name, file=file)\n"},
    {"node",
     "const fs = require('fs');\n"
     "const names = (name, fd) => ['/dev/' + name, `/dev/fd/${fd}`, `/proc/self/fd/${fd}`];\n"
     "for (const name of names('stdin', 0))\n"
     "  fs.writeSync(1, `[${fs.readFileSync(name, 'utf8').trim()}]\\n`);\n"
     "for (const name of names('stdout', 1).concat(names('stderr', 2)))\n"
     "  fs.appendFileSync(name, `to ${name}\\n`);\n"},
};
constexpr char kToOutput[] = "to /dev/stdout\nto /dev/fd/1\nto /proc/self/fd/1\n";
constexpr char kToError[] = "to /dev/stderr\nto /dev/fd/2\nto /proc/self/fd/2\n";

class Streams : public ::testing::TestWithParam<std::tuple<Input, const char*>> {
 protected:
  Outcome Run(const Language& language) const {
    const auto& [input, backend] = GetParam();
    const std::string file = directory_.path() + "/input";
    std::ofstream(file) << "given\n";
    std::string line = ShellQuote(BinDirectory() + "/igloo") + " run --env " +
                       language.environment + " --backend " + backend + " " +
                       ShellQuote(language.code);
    if (input == Input::kNothing) line += " </dev/null";
    if (input == Input::kFile) line += " <" + ShellQuote(file);
    return RunProgram({.program = "/bin/sh",
                       .args = {"-c", line},
                       .input = input == Input::kPipe ? "given\n" : ""});
  }

  TempDir directory_ = TempDir::Make(TempParent()).value();
};

TEST_P(Streams, CanBeOpenedAgainByName) {
  for (const Language& language : kLanguages) {
    const Outcome outcome = Run(language);
    const bool given = std::get<0>(GetParam()) != Input::kNothing;
    EXPECT_EQ(outcome.out, (given ? "[given]\n" : "[]\n") + std::string("[]\n[]\n") + kToOutput)
        << language.environment << ": " << outcome.err;
    EXPECT_THAT(outcome.err, EndsWith(kToError))
        << language.environment;  // behind igloo's own words
    EXPECT_EQ(outcome.status, 0) << language.environment;
  }
}

std::string InputName(const ::testing::TestParamInfo<std::tuple<Input, const char*>>& info) {
  constexpr const char* kNames[] = {"Nothing", "Pipe", "File"};
  const auto& [input, backend] = info.param;
  return std::string(kNames[static_cast<int>(input)]) + "_" + backend;
}

INSTANTIATE_TEST_SUITE_P(Inputs, Streams,
                         ::testing::Combine(::testing::Values(Input::kNothing, Input::kPipe,
                                                              Input::kFile),
                                            ::testing::ValuesIn(OfferedWalls())),
                         InputName);

/// The first call starts an interpreter, later ones take one that waits; sessions keep theirs.
TEST(WarmStreams, CanBeOpenedAgainByName) {
  McpClient client;
  client.Initialize();
  for (const Language& language : kLanguages) {
    for (const JsonObject& more : {JsonObject{}, JsonObject{}, JsonObject{{"session", "s"}}}) {
      JsonObject arguments = more;
      if (more.contains("session")) arguments["session"] = std::string("s-") + language.environment;
      const JsonObject result = client.Run(language.environment, language.code, arguments);
      const JsonObject& structured = result.at("structuredContent").as_object();
      EXPECT_EQ(structured.at("stdout").as_string(), std::string("[]\n[]\n[]\n") + kToOutput)
          << language.environment << ": " << TextOf(result);
      EXPECT_EQ(structured.at("stderr").as_string(), kToError) << language.environment;
    }
  }
}

/// A terminal that igloo made for a shell is the program's own in the same way.
TEST(ShellStreams, CanBeOpenedAgainByName) {
  Terminal shell(BinDirectory() + "/igloo", {"shell", "--env", "shell"});
  ASSERT_TRUE(shell.WaitForOutput("[igloo shell] ")) << shell.output();
  shell.Type(
      "for name in /dev/stdin /dev/fd/1 /proc/self/fd/2; do\r"
      "exec 9<>$name && test -t 9 && stty size <&9 && echo t''o $name >&9; done; echo e''nd\r");
  ASSERT_TRUE(shell.WaitForOutput("end\r\n")) << shell.output();
  for (const char* name : {"/dev/stdin", "/dev/fd/1", "/proc/self/fd/2"}) {
    EXPECT_THAT(shell.output(), HasSubstr("24 80\r\nto " + std::string(name) + "\r\n"));
  }
  shell.Type("echo as''ked; read answer </dev/stdin; echo go''t $answer\r");
  ASSERT_TRUE(shell.WaitForOutput("asked\r\n")) << shell.output();
  shell.Type("typed\r");
  EXPECT_TRUE(shell.WaitForOutput("got typed\r\n")) << shell.output();
}

}  // namespace
}  // namespace igloo::testing
