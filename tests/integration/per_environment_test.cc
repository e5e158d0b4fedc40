// The contract with one tool for each environment, in real sandboxes: a call's arguments go in, and
// what its client would get comes out.

#include "tools/per_environment.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <ostream>

#include "config/sandbox_mcp_builtin.h"
#include "environment/facts.h"
#include "support/sandbox.h"

namespace igloo::testing {
namespace {

using config::SandboxSpec;
using ::testing::HasSubstr;

/// A tool's answer.
struct Answered {
  std::string text = {};
  bool is_error = false;
  bool is_protocol_error = false;
};

class PerEnvironment : public ::testing::Test {
 protected:
  /// Calls the tool that `spec` makes, as a server would.
  static Answered Call(const SandboxSpec& spec, const mcp::JsonObject& arguments) {
    const config::Config config;
    const config::Catalogue catalogue(config, {.registry = {environment::ReadHostLayout(), {}}});
    for (const tools::EnvironmentTool& tool : tools::MakeEnvironmentTools(
             {.found = {{"/s", spec}}}, catalogue, tools::Uncovered::kLeaveOut)) {
      if (tool.spec.id == spec.id) return Call(tool, catalogue, arguments);
    }
    throw std::runtime_error("there is no tool " + spec.id);
  }
  static Answered Call(std::string_view id, const mcp::JsonObject& arguments) {
    return Call(Builtin(id), arguments);
  }
  static SandboxSpec Builtin(std::string_view id) {
    for (const SandboxSpec& spec : config::BuiltinSandboxes()) {
      if (spec.id == id) return spec;
    }
    throw std::runtime_error("there is no sandbox " + std::string(id));
  }

 private:
  static Answered ToAnswer(const mcp::Answer<mcp::ToolResult>& result) {
    if (!result) return {.text = result.error().message, .is_protocol_error = true};
    return {.text = std::get<mcp::content::Text>(result->content.at(0)).text,
            .is_error = result->is_error};
  }
  static Answered Call(const tools::EnvironmentTool& tool, const config::Catalogue& catalogue,
                       const mcp::JsonObject& arguments) {
    const auto prepared = tools::Prepare(tool, arguments);
    if (!prepared) return ToAnswer(std::unexpected(prepared.error()));
    if (const auto* answer = std::get_if<mcp::ToolResult>(&*prepared)) return ToAnswer(*answer);
    const auto& call = std::get<tools::PreparedCall>(*prepared);
    const auto configured = catalogue.Find(call.environment);
    const auto policy = environment::PolicyForRun(configured.value().environment, call.request);
    const auto plan = sandbox::MakePlan(
        policy.value(), environment::GatherFacts(sandbox::SourcesOf(policy.value())));
    if (!plan) return ToAnswer(tools::RenderRefusal(plan.error()));
    Workbench bench(backend::jail::Mode::kCold);
    const auto result = bench.Run(*plan);
    if (!result) return ToAnswer(tools::RenderRefusal(result.error()));
    return ToAnswer(tools::Render(tool, *result));
  }
};

/// One call of the set that the contract was always tried with, in words of our own.
struct Case {
  std::string name = {};
  std::string tool = {};
  mcp::JsonObject arguments = {};
  std::string text = {};  ///< somewhere in the answer
  bool is_error = false;
};
std::ostream& operator<<(std::ostream& out, const Case& each) { return out << each.name; }

mcp::JsonObject WithFile(std::string_view parameter, std::string_view code, std::string_view name,
                         std::string_view content) {
  return {{parameter, code},
          {"files", boost::json::array{{{"filename", name}, {"content", content}}}}};
}

class PerEnvironmentCase : public PerEnvironment, public ::testing::WithParamInterface<Case> {};

TEST_P(PerEnvironmentCase, Answers) {
  const Case& each = GetParam();
  const Answered answered = Call(each.tool, each.arguments);
  EXPECT_FALSE(answered.is_protocol_error) << answered.text;
  EXPECT_EQ(answered.is_error, each.is_error) << answered.text;
  EXPECT_THAT(answered.text, HasSubstr(each.text));
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  return info.param.tool + "_" + info.param.name;
}

const Case kShell[] = {
    {"SaysHello",
     "shell",
     {{"main_sh", "echo hello from $(basename \"$0\")"}},
     "hello from main.sh\n"},
    {"ReadsAFile", "shell", WithFile("main_sh", "cat note.txt", "note.txt", "a note"), "a note"},
    {"Fails", "shell", {{"main_sh", "no-such-command"}}, "no-such-command: not found", true},
};
INSTANTIATE_TEST_SUITE_P(Shell, PerEnvironmentCase, ::testing::ValuesIn(kShell), NameOf);

constexpr const char* kModule = "module sandbox\n\ngo 1.18\n";
const Case kGo[] = {
    {"SaysHello",
     "go",
     {{"main_go", "package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"hello\", 6*7) }\n"},
      {"go_mod", kModule}},
     "hello 42\n"},
    {"ReadsAFile", "go",
     [] {
       mcp::JsonObject arguments = WithFile(
           "main_go",
           "package main\nimport \"os\"\nfunc main() {\n  text, err := os.ReadFile(\"note.txt\")\n"
           "  if err != nil { panic(err) }\n  os.Stdout.Write(text)\n}\n",
           "note.txt", "a note");
       arguments["go_mod"] = kModule;
       return arguments;
     }(),
     "a note"},
    {"DoesNotCompile",
     "go",
     {{"main_go", "package main\nfunc main() { missing() }\n"}, {"go_mod", kModule}},
     "main.go:2:15: undefined: missing",
     true},
};
INSTANTIATE_TEST_SUITE_P(Go, PerEnvironmentCase, ::testing::ValuesIn(kGo), NameOf);

const Case kPython[] = {
    {"SaysHello", "python", {{"main_py", "print('hello', 6 * 7)"}}, "hello 42\n"},
    {"ImportsAFile", "python",
     WithFile("main_py", "import words\nprint(words.greeting)", "words.py",
              "greeting = 'a module'"),
     "a module\n"},
    {"DividesByZero",
     "python",
     {{"main_py", "print('before')\n1 / 0"}},
     "before\n\nStderr:\nTraceback (most recent call last):\n",
     true},
    {"NamesTheError",
     "python",
     {{"main_py", "1 / 0"}},
     "ZeroDivisionError: division by zero",
     true},
    {"WritesBoth",
     "python",
     {{"main_py", "import sys\nprint('out')\nprint('err', file=sys.stderr)"}},
     "out\n\nStderr:\nerr\n"},
};
INSTANTIATE_TEST_SUITE_P(Python, PerEnvironmentCase, ::testing::ValuesIn(kPython), NameOf);

const Case kJavaScript[] = {
    {"SaysHello", "javascript", {{"index_js", "console.log(`hello ${6 * 7}`)"}}, "hello 42\n"},
    {"RequiresAFile", "javascript",
     WithFile("index_js", "console.log(require('./words.js').greeting)", "words.js",
              "exports.greeting = 'a module'"),
     "a module\n"},
    {"KnowsItsHome",
     "javascript",
     {{"index_js", "console.log(process.env.HOME, process.cwd(), process.env.NODE_ENV)"}},
     "/sandbox /sandbox/src production\n"},
    {"Throws",
     "javascript",
     {{"index_js", "throw new TypeError('not this')"}},
     "TypeError: not this",
     true},
    {"WritesBoth",
     "javascript",
     {{"index_js", "console.log('out'); console.error('err')"}},
     "out\n\nStderr:\nerr\n"},
};
INSTANTIATE_TEST_SUITE_P(JavaScript, PerEnvironmentCase, ::testing::ValuesIn(kJavaScript), NameOf);

const Case kRust[] = {
    {"SaysHello",
     "rust",
     {{"main_rs", "fn main() { println!(\"hello {}\", 6 * 7); }"}},
     "hello 42\n"},
    {"ReadsAFile", "rust",
     WithFile("main_rs",
              "fn main() { print!(\"{}\", std::fs::read_to_string(\"note.txt\").unwrap()); }",
              "note.txt", "a note"),
     "a note"},
    {"UsesAModule", "rust",
     WithFile("main_rs", "mod words;\nfn main() { println!(\"{}\", words::GREETING); }", "words.rs",
              "pub const GREETING: &str = \"a module\";"),
     "a module\n"},
    {"CannotImport",
     "rust",
     {{"main_rs", "use absent_crate::Thing;\nfn main() {}"}},
     "error[E0432]: unresolved import `absent_crate`",
     true},
    {"MindsTypes",
     "rust",
     {{"main_rs", "fn main() { let n: i32 = \"seven\"; }"}},
     "error[E0308]: mismatched types",
     true},
    {"Panics",
     "rust",
     {{"main_rs", "fn main() { println!(\"before\"); panic!(\"not this\"); }"}},
     "not this",
     true},
    {"WritesBoth",
     "rust",
     {{"main_rs", "fn main() { println!(\"out\"); eprintln!(\"err\"); }"}},
     "out\n\nStderr:\nerr\n"},
    {"StartsThreads",
     "rust",
     {{"main_rs",
       "use std::thread;\nfn main() {\n  let sum: u32 = (0..4u32).map(|i| thread::spawn(move || i "
       "* 10))\n"
       "    .collect::<Vec<_>>().into_iter().map(|t| t.join().unwrap()).sum();\n"
       "  println!(\"{}\", sum);\n}"}},
     "60\n"},
};
INSTANTIATE_TEST_SUITE_P(Rust, PerEnvironmentCase, ::testing::ValuesIn(kRust), NameOf);

std::string JavaMain(const std::string& body) {
  return "import java.nio.file.*;\nimport java.util.*;\npublic class Main {\n  public static void "
         "main(String[] args) throws Exception {\n" +
         body + "\n  }\n}\n";
}
const Case kJava[] = {
    {"SaysHello",
     "java",
     {{"main_java", JavaMain("System.out.println(\"hello \" + 6 * 7);")}},
     "hello 42\n"},
    {"ReadsAFile", "java",
     WithFile("main_java", JavaMain("System.out.print(Files.readString(Path.of(\"note.txt\")));"),
              "note.txt", "a note"),
     "a note"},
    {"DoesNotCompile",
     "java",
     {{"main_java", JavaMain("missing();")}},
     "main.java:5: error: cannot find symbol",
     true},
    {"WritesToErrors",
     "java",
     {{"main_java", JavaMain("System.err.println(\"err\");")}},
     "\nStderr:\nerr\n"},
    {"HasPreviewFeatures",
     "java",
     // A pattern in a switch: a preview feature up to version 20.
     {{"main_java",
       JavaMain("Object o = 7;\nSystem.out.println(switch (o) { case Integer i -> \"number \" + i; "
                "default -> \"other\"; });")}},
     "number 7\n"},
    {"Throws",
     "java",
     {{"main_java", JavaMain("throw new IllegalStateException(\"not this\");")}},
     "IllegalStateException: not this",
     true},
};
INSTANTIATE_TEST_SUITE_P(Java, PerEnvironmentCase, ::testing::ValuesIn(kJava), NameOf);

// BUG-B1: code ran on the host as whoever had started the server, and every setting was ignored.
TEST_F(PerEnvironment, SettingsHoldInside) {
  SandboxSpec spec = Builtin("shell");
  spec.user = "ada";
  spec.resources = {.memory_mb = 64, .processes = 32, .files = 50};
  const Answered answered =
      Call(spec, {{"main_sh",
                   "id -un; id -u; echo $HOME $PWD $USER; ulimit -n; touch here 2>&1; "
                   "ls -1 /sandbox; stat -c %a main.sh; cat /proc/net/dev | wc -l; ls /project"}});
  EXPECT_THAT(answered.text, HasSubstr("ada\n1000\n/sandbox /sandbox ada\n50\n"));
  EXPECT_THAT(answered.text, HasSubstr("Read-only file system\nmain.sh\n755\n"));
  EXPECT_THAT(answered.text, HasSubstr("cannot access '/project'"));
}

TEST_F(PerEnvironment, AWritableDirectoryIsWritable) {
  SandboxSpec spec = Builtin("shell");
  spec.mount = {.workdir = "/sandbox/src", .script_perms = 0640};
  spec.security.read_only = false;
  const Answered answered = Call(
      spec,
      {{"main_sh", "pwd; echo x >new && cat new; echo y >../up && cat ../up; stat -c %a main.sh"}});
  EXPECT_EQ(answered.text, "/sandbox/src\nx\ny\n640\n");
}

TEST_F(PerEnvironment, AWorkingDirectoryMayBeElsewhere) {
  SandboxSpec spec = Builtin("shell");
  spec.mount = {.workdir = "/app"};
  EXPECT_EQ(Call(spec, {{"main_sh", "pwd; echo $HOME; ls"}}).text, "/app\n/app\nmain.sh\n");
  spec.mount = {.workdir = "/sandbox/a/b"};
  EXPECT_EQ(Call(spec, {{"main_sh", "pwd; echo $HOME; ls"}}).text,
            "/sandbox/a/b\n/sandbox\nmain.sh\n");
  spec.mount = {.workdir = "/usr"};
  const Answered covered = Call(spec, {{"main_sh", "true"}});
  EXPECT_TRUE(covered.is_error);
  EXPECT_THAT(covered.text, HasSubstr("Sandbox execution failed: "));
}

// BUG-B1, too: the numbers of processes and of memory were never set.
TEST_F(PerEnvironment, LimitsHold) {
  SandboxSpec spec = Builtin("python");
  spec.resources = {.memory_mb = 64, .processes = 16, .files = 96};
  const Answered memory =
      Call(spec, {{"main_py", "import time\nx = bytearray(200 << 20)\ntime.sleep(60)"}});
  EXPECT_TRUE(memory.is_error) << memory.text;
  EXPECT_THAT(memory.text, HasSubstr("64 MB of memory"));
  const Answered processes = Call(spec, {{"main_py",
                                          "import os, signal\n"
                                          "try:\n"
                                          "  for i in range(64):\n"
                                          "    if os.fork() == 0: signal.pause()\n"
                                          "except OSError as e: print(e.strerror, i < 17)"}});
  EXPECT_THAT(processes.text, HasSubstr("Resource temporarily unavailable True"));
}

// BUG-B5: what came before the failure and the text of the time-out were both lost.
TEST_F(PerEnvironment, AFailureKeepsWhatCameBefore) {
  const Answered failed = Call("shell", {{"main_sh", "echo so far; echo oops >&2; exit 3"}});
  EXPECT_TRUE(failed.is_error);
  EXPECT_EQ(failed.text, "so far\n\nStderr:\noops\n");
}

TEST_F(PerEnvironment, TheEndOfTheTimeIsAProtocolError) {
  SandboxSpec spec = Builtin("shell");
  spec.timeout_seconds = 1;
  const Answered late = Call(spec, {{"main_sh", "while :; do :; done"}});
  EXPECT_TRUE(late.is_protocol_error);
  EXPECT_EQ(late.text, "execution timeout after 1 seconds");
}

TEST_F(PerEnvironment, BeforeRunsBesideTheCommand) {
  SandboxSpec spec = Builtin("shell");
  spec.mount.read_only = false;
  // Both wait for each other, so neither could be done before the other has begun; the words hold
  // what a shell would make something of.
  spec.before = {
      "sh", "-c",   "mkfifo /tmp/pipe; echo noise; echo \"$2\" >/tmp/pipe; read x </tmp/never",
      "sh", "a  b", "it's; \"$HOME\""};
  spec.command = {"sh", "main.sh"};
  const Answered answered =
      Call(spec, {{"main_sh", "until [ -p /tmp/pipe ]; do :; done; cat /tmp/pipe; echo done"}});
  EXPECT_FALSE(answered.is_error) << answered.text;
  EXPECT_EQ(answered.text, "it's; \"$HOME\"\ndone\n");
}

TEST_F(PerEnvironment, BeforeThatIsNotThereIsNamed) {
  SandboxSpec spec = Builtin("shell");
  spec.before = {"docker-start"};
  const Answered answered = Call(spec, {{"main_sh", "echo never"}});
  EXPECT_TRUE(answered.is_error);
  EXPECT_EQ(answered.text, "before: docker-start: not found\n");
}

TEST_F(PerEnvironment, ASilentFailureStillSaysSomething) {
  SandboxSpec spec = Builtin("shell");
  spec.before = {"true"};
  const Answered answered = Call(spec, {{"main_sh", "exit 9"}});
  EXPECT_TRUE(answered.is_error);
  EXPECT_EQ(answered.text, "Command failed with exit code 9");
}

// BUG-B3: one file ran another name than the configuration said. All of ours find their own.
TEST_F(PerEnvironment, EveryCommandRunsItsEntrypoint) {
  for (const SandboxSpec& spec : config::BuiltinSandboxes()) {
    const bool named = std::ranges::any_of(spec.command, [&](const std::string& word) {
      return word.find(spec.entrypoint) != std::string::npos;
    });
    EXPECT_TRUE(named) << spec.id;
  }
}

}  // namespace
}  // namespace igloo::testing
