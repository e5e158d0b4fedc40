// The contract with one tool for each environment, in real sandboxes: a call's arguments go in, and
// what its client would get comes out.

#include "tools/per_environment.h"

#include <gmock/gmock.h>

#include <algorithm>

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
  for (const char* usual : {"/tmp", "/dev/shm", "/home/ada", "/root", "/project"}) {
    spec.mount = {.workdir = usual};
    EXPECT_EQ(
        Call(spec, {{"main_sh", "pwd; echo $HOME; ls; echo x >/tmp/new && cat /tmp/new"}}).text,
        std::string(usual) + "\n" + usual + "\nmain.sh\nx\n");
  }
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
