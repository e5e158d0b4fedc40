// Sandboxes in virtual machines: the same plans, the same promises, and what only a machine can do
// wrong. Machines start slowly where they are emulated, so a test asks one for much.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "support/configured.h"
#include "support/host.h"
#include "support/mcp.h"
#include "support/running.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kConfig = "c.toml";

/// The kernel that tests/support/packages put beside the programs.
std::string KernelOfTests() {
  std::error_code ignored;
  for (const auto& each : fs::directory_iterator(BinDirectory() + "/kernel", ignored)) {
    if (each.path().filename().string().starts_with("vmlinuz-")) return each.path();
  }
  ADD_FAILURE() << "tools/install-packages test; then build again";
  return {};
}

class Microvm : public Configured {
 protected:
  void SetUp() override {
    Configured::SetUp();
    Configure("");
    fs::create_directories(project());
    std::ofstream(project() + "/file") << "as it was\n";
    std::ofstream(project() + "/.env") << "TOKEN=hunter2\n";
  }
  std::string project() const { return Path("project"); }

  void Configure(const std::string& more) const {
    Write(kConfig, "[backends.microvm]\nkernel = '" + KernelOfTests() + "'\n" + more);
  }
  std::vector<std::string> Words(std::vector<std::string> more,
                                 const std::string& env = "shell") const {
    std::vector<std::string> words = {"run",   "--config", Path(kConfig), "--backend", "microvm",
                                      "--env", env};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Outcome InMachine(std::vector<std::string> more, const std::string& env = "shell") const {
    return Run(Words(std::move(more), env));
  }

  Running Start(std::vector<std::string> more) const {
    return Running({.program = BinDirectory() + "/igloo",
                    .args = Words(std::move(more)),
                    .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  }
  static pid_t EmulatorOf(const Running& igloo) {
    for (const ProcessInfo& each : DescendantsOf(igloo.pid())) {
      if (each.name.starts_with("qemu")) return each.pid;
    }
    return 0;
  }
};

/// One line of /proc/PID/status.
std::string StatusOf(pid_t pid, const std::string& name) {
  std::istringstream lines(ReadProc("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + ":"))
      return line.substr(line.find_first_not_of("\t ", name.size() + 1));
  }
  return {};
}

TEST_F(Microvm, CodeRunsOnAKernelOfItsOwnBehindTheSameWall) {
  const Outcome outcome =
      InMachine({"cat /proc/sys/kernel/random/boot_id; id -u; echo wrong >&2\n"
                 "grep -E '^(CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'\n"
                 "(: > /usr/x) 2>/dev/null || echo read-only; ls /dev | tr '\\n' ' '\n"
                 "wc -l < /proc/net/dev; [ -e '" +
                 project() + "' ] || echo hidden; exit 5"});
  EXPECT_EQ(outcome.status, 5);
  EXPECT_THAT(outcome.out, Not(StartsWith(ReadProc("/proc/sys/kernel/random/boot_id"))));
  EXPECT_THAT(outcome.out,
              ContainsRegex("^[0-9a-f-]{36}\n1000\nCapBnd:0{16}\nNoNewPrivs:1\nSeccomp:2\n"
                            "read-only\nfd full null random shm stderr stdin stdout urandom zero "
                            "3\nhidden\n$"));
  EXPECT_THAT(outcome.err, HasSubstr("wrong\n"));
}

TEST_F(Microvm, BytesComeAndGoWholeAndInTheirOrder) {
  // More than every buffer on the way holds.
  std::string input;
  for (int i = 0; input.size() < 700'000; ++i) input += std::to_string(i) + "\n";
  const Outcome outcome =
      RunProgram({.program = BinDirectory() + "/igloo",
                  .args = Words({"import sys; sys.stdout.write(sys.stdin.read())"}, "python"),
                  .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")},
                  .input = input});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out == input) << outcome.out.size() << " of " << input.size();
}

TEST_F(Microvm, AReadOnlyProjectShowsNoSecretAndTakesNothing) {
  const Outcome outcome = InMachine({"--project", project(),
                                     "cat /project/file; cat /project/.env; echo x >/project/new;\n"
                                     "echo x >/project/file; chmod 777 /project/.env; true"});
  EXPECT_THAT(outcome.out, Not(HasSubstr("hunter2")));
  EXPECT_EQ(outcome.out, "as it was\n");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("/project/.env: Permission denied"),
                                 HasSubstr("/project/new: Read-only file system")));
  EXPECT_EQ(Read("project/file"), "as it was\n");
  EXPECT_FALSE(fs::exists(project() + "/new"));
}

TEST_F(Microvm, ACopyOnWriteProjectKeepsItsChangesInTheMachine) {
  const Outcome outcome =
      InMachine({"--project", project() + ":overlay",
                 "echo new >/project/file; mkdir /project/d; cat /project/file /project/.env"});
  EXPECT_EQ(outcome.out, "new\n") << outcome.err;
  EXPECT_EQ(Read("project/file"), "as it was\n");
  EXPECT_FALSE(fs::exists(project() + "/d"));
}

TEST_F(Microvm, AReadWriteProjectIsWrittenAsItsOwner) {
  Configure("[project]\npath = '" + project() + "'\nmode = 'readwrite'\nhide = []\n");
  const Outcome outcome =
      InMachine({"echo new >/project/file; echo x >/project/made; cat /project/.env"});
  EXPECT_THAT(outcome.out, Not(HasSubstr("hunter2"))) << outcome.err;
  EXPECT_EQ(Read("project/file"), "new\n") << outcome.err;
  struct stat directory{}, made{};
  ASSERT_EQ(::stat(project().c_str(), &directory), 0);
  ASSERT_EQ(::stat((project() + "/made").c_str(), &made), 0) << outcome.err;
  EXPECT_EQ(made.st_uid, directory.st_uid);
}

TEST_F(Microvm, TimeIsTheProgramsAndNotThatOfTheMachinesStart) {
  const Outcome outcome = InMachine({"--timeout", "1", "echo begun; sleep 1000"});
  EXPECT_EQ(outcome.status, 124) << outcome.err;
  EXPECT_EQ(outcome.out, "begun\n");
  EXPECT_THAT(outcome.err, HasSubstr("stopped at its time limit of 1 s"));
}

TEST_F(Microvm, MemoryOfTheProgramIsLimited) {
  const Outcome outcome = InMachine(
      {"--memory", "64", "--json", "x = []\nwhile True: x.append(bytearray(1 << 20))"}, "python");
  EXPECT_THAT(outcome.out, HasSubstr(R"("verdict":"memory")")) << outcome.err;
}

TEST_F(Microvm, TheEmulatorIsInAJailAndEndsWithIgloo) {
  Running igloo = Start({"echo up; sleep 1000"});
  ASSERT_TRUE(igloo.WaitForOutput("up\n")) << igloo.Finish().err;
  const pid_t emulator = EmulatorOf(igloo);
  ASSERT_NE(emulator, 0);
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    EXPECT_EQ(StatusOf(emulator, set), "0000000000000000") << set;
  }
  EXPECT_EQ(StatusOf(emulator, "NoNewPrivs"), "1");
  EXPECT_EQ(StatusOf(emulator, "Seccomp"), "2");
  EXPECT_THAT(StatusOf(emulator, "Uid"), Not(StartsWith("0\t"))) << "never root";
  std::istringstream devices(ReadProc("/proc/" + std::to_string(emulator) + "/net/dev"));
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(devices), {}, '\n'), 3) << "loopback alone";
  const auto family = DescendantsOf(igloo.pid());
  igloo.Signal(SIGKILL);
  for (const ProcessInfo& each : family) {
    EXPECT_TRUE(WaitFor([&] { return IsGone(each.pid); })) << each.pid << " " << each.name;
  }
}

TEST_F(Microvm, AnEmulatorThatIsKilledIsAnErrorThatSaysSo) {
  Running igloo = Start({"echo up; sleep 1000"});
  ASSERT_TRUE(igloo.WaitForOutput("up\n")) << igloo.Finish().err;
  ASSERT_EQ(::kill(EmulatorOf(igloo), SIGKILL), 0);
  const Outcome outcome = igloo.Finish();
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("the virtual machine ended by itself: QEMU was ended by "
                                     "signal 9"));
}

TEST_F(Microvm, AnInterruptReachesTheProgram) {
  Running igloo = Start({"trap 'echo heard; exit 3' INT; echo up; while :; do sleep 0.1; done"});
  ASSERT_TRUE(igloo.WaitForOutput("up\n")) << igloo.Finish().err;
  igloo.Signal(SIGINT);
  EXPECT_THAT(igloo.Finish().out, HasSubstr("heard\n"));
}

TEST_F(Microvm, AFileThatIsNoKernelIsAnErrorWithTheEmulatorsWords) {
  Write("boot/vmlinuz-1", "no kernel at all");
  fs::create_directories(Path("boot/lib/modules"));
  fs::copy(fs::directory_iterator(BinDirectory() + "/kernel/lib/modules")->path(),
           Path("boot/lib/modules/1"), fs::copy_options::recursive);
  Write(kConfig, "[backends.microvm]\nkernel = '" + Path("boot/vmlinuz-1") + "'\n");
  const Outcome outcome = InMachine({"echo never"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the virtual machine ended by itself: QEMU exited"),
                                 HasSubstr("kernel")));
}

TEST_F(Microvm, WithoutAKernelItSaysWhatToInstall) {
  Write(kConfig, "[backends.microvm]\nkernel = '" + Path("none") + "'\n");
  const Outcome outcome = InMachine({"echo never"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("cannot read the kernel"),
                                 HasSubstr("sudo apt install linux-image-amd64")));
}

TEST_F(Microvm, ASessionKeepsItsStateAndWhatItPrintsComesBeforeItsAnswer) {
  Configure("[environments.python]\npreset = 'python'\nbackend = 'microvm'\nwarm = 0\n");
  McpClient client({.args = {"mcp", "--config", Path(kConfig)},
                    .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize();
  const JsonObject in_session = {{"session", "s"}};
  EXPECT_THAT(TextOf(client.Run("python", "x = 41", in_session)), Not(HasSubstr("Error")));
  for (int round = 0; round < 20; ++round) {
    // Output that came after its call had ended would be missing here, and told with the next one.
    EXPECT_THAT(TextOf(client.Run("python", "print('begin')\nprint('y' * 3000)\nprint('end', x)",
                                  in_session)),
                AllOf(StartsWith("begin\n"), HasSubstr("\nend 41\n")));
  }
  const JsonObject late = client.Run("python", "import time; time.sleep(100)",
                                     {{"session", "s"}, {"timeout_seconds", 1}});
  EXPECT_TRUE(IsError(late));
  EXPECT_THAT(TextOf(client.Run("python", "x + 1", in_session)), StartsWith("42\n"))
      << "an interrupt, and the state survives";
  EXPECT_THAT(TextOf(client.Run("python", "x", {{"session", "t"}, {"fork_of", "s"}})),
              HasSubstr("cannot be forked"));
}

TEST_F(Microvm, WhatItCannotDoYetIsRefusedAndNeverLeftOut) {
  Configure("[environments.shell]\npreset = 'shell'\nnetwork = 'allow'\nallow = ['example.com']\n");
  const Outcome network = InMachine({"echo never"});
  EXPECT_EQ(network.out, "");
  EXPECT_THAT(network.err, HasSubstr("a virtual machine of igloo's cannot have a network"));
  Configure("");
  const Outcome kept =
      InMachine({"--project", project() + ":overlay", "--keep", "x", "echo never"});
  EXPECT_EQ(kept.out, "");
  EXPECT_THAT(kept.err, HasSubstr("cannot keep changes to"));
}

}  // namespace
}  // namespace igloo::testing
