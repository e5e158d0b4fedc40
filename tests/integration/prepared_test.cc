// Runs on a prepared environment: fast, many at once, and blind to each other.

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/sandbox.h"

namespace igloo::testing {
namespace {

using backend::jail::Mode;
using ::testing::ElementsAreArray;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;
namespace fs = std::filesystem;

/// What a run printed; its error instead when it failed.
std::string OutputOf(const Result<session::RunResult>& result) {
  return result ? result->output.kept() + result->error.kept() : "error: " + result.error().what;
}

TEST(Prepared, RunsManyOnOneTemplate) {
  Workbench bench(Mode::kPrepared);
  for (int i = 0; i < 50; ++i) {
    const std::string code = "echo " + std::to_string(i) + "; exit " + std::to_string(i);
    const auto result = bench.Run(PlanForShell(code));
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->output.kept(), std::to_string(i) + "\n");
    EXPECT_EQ(result->exit_code, i);
  }
  std::size_t templates = 0;
  for (const ProcessInfo& launcher : ChildrenOf(::getpid())) {
    templates += ChildrenOf(launcher.pid).size();
  }
  EXPECT_EQ(templates, 1U);
}

/// Network namespaces are used again, but never one in which anything was sent.
TEST(Prepared, NobodySeesTheTrafficOfAnother) {
  Workbench bench(Mode::kPrepared);
  const auto look = [&](const std::string& then) {
    return OutputOf(bench.Run(PlanForShell(
        "grep -o 'lo: *[0-9]* *[0-9]*' /proc/net/dev; readlink /proc/self/ns/net; " + then)));
  };
  std::set<std::string> quiet;
  for (int i = 0; i < 20; ++i) quiet.insert(look(""));
  EXPECT_LT(quiet.size(), 20U) << "control: some are used again";
  const std::string send = "echo x > /dev/udp/127.0.0.1/9; grep -c 'lo:       0' /proc/net/dev";
  // Nor anything that was only tried: what finds no route is counted elsewhere.
  const auto tried = [&] {
    return OutputOf(
        bench.Run(PlanForShell("cat /proc/net/snmp /proc/net/snmp6 /proc/net/netstat; "
                               "(echo x > /dev/udp/192.0.2.1/9) 2>/dev/null; true")));
  };
  const std::string first = tried();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(tried(), first);
  for (int i = 0; i < 20; ++i) {
    const std::string seen = look(send);
    EXPECT_THAT(seen, HasSubstr("lo:       0       0\n"));
    EXPECT_THAT(seen, EndsWith("]\n0\n")) << "control: what is sent is counted";
  }
}

TEST(Prepared, RunsManyAtTheSameTime) {
  Workbench bench(Mode::kPrepared);
  std::vector<sandbox::Plan> plans;
  std::vector<std::string> expected;
  for (int i = 0; i < 40; ++i) {
    plans.push_back(
        PlanForShell("ls /tmp; echo " + std::to_string(i) + " | tee /tmp/" + std::to_string(i)));
    expected.push_back(std::to_string(i) + "\n");
  }
  std::vector<std::string> outputs;
  for (const auto& result : bench.RunTogether(plans)) outputs.push_back(OutputOf(result));
  EXPECT_THAT(outputs, ElementsAreArray(expected));
}

TEST(Prepared, ServesDifferentEnvironmentsSideBySide) {
  Workbench bench(Mode::kPrepared);
  const auto with_place = [](const std::string& place) {
    return PlanForShell("ls -d /place-*", [&](sandbox::Policy& policy) {
      policy.environment.emplace_back(sandbox::EmptyDirectory{.path = place});
    });
  };
  EXPECT_EQ(OutputOf(bench.Run(with_place("/place-a"))), "/place-a\n");
  EXPECT_EQ(OutputOf(bench.Run(with_place("/place-b"))), "/place-b\n");
  EXPECT_EQ(OutputOf(bench.Run(with_place("/place-a"))), "/place-a\n");
}

/// Leaves a mark in every place that a neighbour could look at, and looks at all of them itself.
/// Run as `code NAME leave|look`.
constexpr const char* kNeighbour = R"(
import glob, os, socket, sys
def leave():
    global keep
    for place in ('/tmp/mark', '/workspace/mark', '/dev/shm/mark'): open(place, 'w').close()
    a = socket.socket(socket.AF_UNIX); a.bind('\0mark'); a.listen()
    t = socket.socket(); t.bind(('127.0.0.1', 5000)); t.listen()
    keep = (a, t)
def works(action):
    try: action(); return True
    except OSError: return False
def look():
    seen = [p for p in ('/tmp/mark', '/workspace/mark', '/dev/shm/mark') if os.path.exists(p)]
    if works(lambda: socket.socket(socket.AF_UNIX).connect('\0mark')): seen.append('abstract')
    if works(lambda: socket.socket().connect(('127.0.0.1', 5000))): seen.append('loopback')
    lines = []
    for name in glob.glob('/proc/[0-9]*/cmdline'):
        try: lines.append(open(name).read())
        except OSError: pass
    if any('neigh' + 'bour-one' in line for line in lines): seen.append('process')
    return seen
if sys.argv[2] == 'leave': leave()
print('saw', *look(), flush=True)
sys.stdin.read()
)";

TEST(Prepared, HidesRunsFromEachOther) {
  Workbench bench(Mode::kPrepared);
  const auto plan = [](const std::string& name, const std::string& action) {
    return PlanForProgram({"/usr/bin/python3", "-c", kNeighbour, name, action});
  };
  const sandbox::Plan first_plan = plan("neighbour-one", "leave");
  const sandbox::Plan second_plan = plan("neighbour-two", "look");
  LiveRun first(bench, first_plan);
  ASSERT_TRUE(first.WaitForOutput("\n"));
  EXPECT_EQ(first.output(),
            "saw /tmp/mark /workspace/mark /dev/shm/mark abstract loopback process\n")
      << "control: whoever may look sees everything";
  LiveRun second(bench, second_plan);
  ASSERT_TRUE(second.WaitForOutput("\n"));
  EXPECT_EQ(second.output(), "saw\n");
  EXPECT_TRUE(second.Finish());
  EXPECT_TRUE(first.Finish());
  // Nor does the past show: the network and the places of an ended run are never used again.
  EXPECT_EQ(OutputOf(bench.Run(second_plan)), "saw\n");
}

TEST(Prepared, KeepsItsRootAsItWas) {
  Workbench bench(Mode::kPrepared);
  const sandbox::Plan list = PlanForShell(
      "find / '(' -path /proc -o -path /usr -o -path /dev ')' -prune -o -printf '%p %M %s %l\\n' "
      "2>/dev/null | sort; ls -la --time-style=+ /dev");
  const std::string before = OutputOf(bench.Run(list));
  EXPECT_THAT(before, HasSubstr("/etc/passwd "));
  const sandbox::Plan vandal = PlanForShell(
      "for d in / /etc /run /dev /.igloo /project /bin /home /var; do "
      "touch $d/new; mkdir $d/newdir; ln -s x $d/newlink; done; "
      "echo x > /etc/passwd; rm -rf /etc/* /run/* /bin; chmod 777 / /etc; mv /etc /gone; "
      "echo x > /.igloo/nothing; touch /tmp/t /workspace/w; echo tried");
  for (const auto& result : bench.RunTogether({vandal, vandal, vandal})) {
    EXPECT_THAT(OutputOf(result), HasSubstr("tried\n"));
  }
  EXPECT_EQ(OutputOf(bench.Run(list)), before);
}

TEST(Prepared, ShowsProjects) {
  const TempDir directory = TempDir::Make(TempParent()).value();
  std::ofstream(directory.path() + "/file") << "content\n";
  fs::permissions(directory.path() + "/file", fs::perms::owner_read | fs::perms::owner_write);
  const auto before = SnapshotOf(directory.path());
  const auto plan = [&](environment::ProjectMode mode, const std::string& code) {
    return PlanFor("shell", {.what = environment::Code{code},
                             .project = environment::Project{directory.path(), mode}});
  };
  using environment::ProjectMode;
  Workbench bench(Mode::kPrepared);
  const std::string change =
      "cat /project/file; echo x > /project/file || exit 9; "
      "echo y > /project/new; cat /project/*";
  EXPECT_EQ(bench.Run(plan(ProjectMode::kReadOnly, change))->exit_code, 9);
  const std::vector<sandbox::Plan> overlays(3, plan(ProjectMode::kOverlay, change));
  for (const auto& result : bench.RunTogether(overlays)) {
    EXPECT_EQ(OutputOf(result), "content\nx\ny\n");
  }
  EXPECT_EQ(SnapshotOf(directory.path()), before);
  // Only a policy, never the command line, makes a project writable.
  const auto written = bench.Run(
      plan(ProjectMode::kReadWrite, "echo new > /project/made; stat -c %u /project/made"));
  EXPECT_EQ(OutputOf(written), "1000\n");
  EXPECT_EQ(ReadProc(directory.path() + "/made"), "new\n");
}

TEST(Prepared, ShowsEveryPathOfAClosureAndNothingElse) {
  const TempDir directory = TempDir::Make(TempParent()).value();
  fs::permissions(directory.path(), static_cast<fs::perms>(0755));
  const auto name_of = [](int i) { return "path-" + std::to_string(i); };
  std::vector<std::string> expected;
  for (int i = 0; i < 200; ++i) {
    const std::string path = directory.path() + "/" + name_of(i);
    fs::create_directory(path);
    std::ofstream(path + "/content") << i << "\n";
  }
  const auto add = [&](std::vector<sandbox::Entry>& entries, int first, int end) {
    for (int i = first; i < end; ++i) {
      const std::string source = directory.path() + "/" + name_of(i);
      entries.emplace_back(sandbox::HostTree{.source = source, .target = "/store/" + name_of(i)});
      expected.push_back(std::to_string(i));
    }
  };
  // A hundred in the template, as many more as a run may have.
  const sandbox::Plan plan =
      PlanForShell("cat /store/*/content; ls /store | wc -l >&2", [&](sandbox::Policy& policy) {
        add(policy.environment, 0, 100);
        add(policy.run, 100, 164);
      });
  for (const Mode mode : {Mode::kPrepared, Mode::kCold}) {
    Workbench bench(mode);
    const auto result = bench.Run(plan);
    ASSERT_TRUE(result) << result.error().what;
    std::istringstream lines(result->output.kept());
    std::vector<std::string> seen;
    for (std::string line; std::getline(lines, line);) seen.push_back(line);
    EXPECT_THAT(seen, UnorderedElementsAreArray(expected));
    EXPECT_EQ(result->error.kept(), "164\n");
  }
}

TEST(Prepared, ARunMayHaveThousandsOfPathsAndNotOneMoreThanThat) {
  const TempDir directory = TempDir::Make(TempParent()).value();
  const auto plan = [&](int count) {
    return PlanForShell("ls /store | wc -l", [&](sandbox::Policy& policy) {
      for (int i = 0; i < count; ++i) {
        policy.run.emplace_back(
            sandbox::HostTree{.source = directory.path(), .target = "/store/" + std::to_string(i)});
      }
    });
  };
  Workbench bench(Mode::kPrepared);
  const auto expect_works = [&](int count) {
    const auto result = bench.Run(plan(count));
    ASSERT_TRUE(result) << count << ": " << result.error().what;
    EXPECT_EQ(result->output.kept(), std::to_string(count) + "\n") << result->error.kept();
  };
  for (const int count : {64, 65, 76, 300, 2000}) expect_works(count);
  const auto refused = bench.Run(plan(8193));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("Argument list too long"));
  EXPECT_FALSE(refused.error().hint.empty());
  expect_works(64);
}

TEST(Prepared, EndsNobodyElseWhenAPlanIsTooLarge) {
  Workbench bench(Mode::kPrepared);
  const sandbox::Plan plan = PlanForShell("echo ready; cat");
  const sandbox::Plan too_large = PlanForShell("true", [](sandbox::Policy& policy) {
    policy.run.emplace_back(
        sandbox::TextFile{.path = "/tmp/large", .content = std::string(81U << 20, 'x')});
  });
  LiveRun neighbour(bench, plan);
  ASSERT_TRUE(neighbour.WaitForOutput("ready\n"));
  const auto result = bench.Run(too_large);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::kExhausted);
  neighbour.Write("still here\n");
  EXPECT_TRUE(neighbour.WaitForOutput("still here\n"));
  const auto ended = neighbour.Finish();
  EXPECT_TRUE(ended) << ended.error().what;
}

TEST(Prepared, HandsOutAListeningSocket) {
  constexpr std::uint16_t kPort = 4711;
  const sandbox::Plan plan =
      PlanForProgram({"/usr/bin/python3", "-c",
                      "import socket\n"
                      "s = socket.create_connection(('127.0.0.1', 4711))\n"
                      "s.sendall(b'question')\n"
                      "print(s.recv(100).decode())\n"},
                     [](sandbox::Policy& policy) { policy.listen = {kPort}; });
  for (const Mode mode : {Mode::kPrepared, Mode::kCold}) {
    backend::jail::JailBackend backend(BuiltPrograms(), mode);
    FdPair control = MakeSocketPair(SOCK_STREAM).value();
    FdPair in = MakePipe().value();
    FdPair out = MakePipe().value();
    FdPair err = MakePipe().value();
    backend::Channels channels{.control = std::move(control.second),
                               .standard_input = std::move(in.first),
                               .standard_output = std::move(out.second),
                               .standard_error = std::move(err.second)};
    auto sandbox = backend.Start(plan, std::move(channels)).value();
    channels = {};
    ASSERT_TRUE(SetNonBlocking(sandbox->setup_fd()));
    std::vector<UniqueFd> listeners;
    ASSERT_TRUE(WaitFor([&] {
      const bool failed = !sandbox->ReadSetup();
      listeners = sandbox->TakeSockets().value().listeners;
      return failed || !listeners.empty();
    }));
    ASSERT_EQ(listeners.size(), 1U);
    const std::string start =
        wire::EncodeStart(backend::StartMessage(plan.payload, wire::Nonce{1, 2})).value();
    ASSERT_TRUE(WriteAll(control.first.get(), start));

    pollfd waiting{listeners[0].get(), POLLIN, 0};
    ASSERT_EQ(::poll(&waiting, 1, 20'000), 1) << "nobody connected";
    const UniqueFd peer(::accept4(waiting.fd, nullptr, nullptr, SOCK_CLOEXEC));
    ASSERT_TRUE(peer);
    char question[64] = {};
    EXPECT_EQ(::recv(peer.get(), question, sizeof question, 0), 8);
    EXPECT_STREQ(question, "question");
    ASSERT_TRUE(WriteAll(peer.get(), "answer"));
    EXPECT_EQ(ReadAll(out.first.get(), 1000).value(), "answer\n");
    EXPECT_EQ(ReadAll(err.first.get(), 10'000).value(), "");

    wire::FrameBuffer frames;
    frames.Append(ReadAll(control.first.get(), 10'000).value());
    const auto report = wire::DecodeReport(frames.Next().value()).value();
    EXPECT_EQ(std::get<wire::Ended>(report).status, 0U);
  }
}

}  // namespace
}  // namespace igloo::testing
