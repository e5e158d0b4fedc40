// Whose ids sandboxes have outside: root gives each one of its own, and so does a server of a user
// with subordinate ids. Where there are none, it says so. IGLOO_TEST_SUBORDINATE: there must be.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <set>

#include "base/temp_dir.h"
#include "session/files/workspace.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/interpreters.h"
#include "support/mcp.h"
#include "support/sandbox.h"

namespace igloo::testing {
namespace {

using backend::jail::HostIds;
using backend::jail::Mode;
using ::testing::HasSubstr;
using ::testing::Not;
namespace json = boost::json;

/// "yes", "broken" (there are ids, but newuidmap only fails) or nothing, which promises nothing.
std::string Promised() {
  const char* value = std::getenv("IGLOO_TEST_SUBORDINATE");
  return value != nullptr && !RunningAsRoot() ? value : "";
}

HostIds IdsOf(Workbench& bench) {
  HostIds ids = bench.backend().host_ids().value();
  if (Promised() == "yes") {
    EXPECT_EQ(ids.kind, HostIds::Kind::kSubordinate) << ids.why.what;
  }
  return ids;
}

bool GivesEachItsOwn(const HostIds& ids) { return ids.kind != HostIds::Kind::kStarters; }

/// A sandbox that waits, and its id outside.
struct Waiting {
  explicit Waiting(Workbench& bench, const Adjust& adjust = {})
      : plan(PlanForProgram({"/bin/sh", "-c", "echo ready; read line", marker}, adjust)),
        run(bench, plan) {
    EXPECT_TRUE(run.WaitForOutput("ready\n"));
    const auto map = ReadUidMap(WaitForMarked(marker));
    EXPECT_TRUE(map && map->inside == 1000 && map->count == 1);
    if (map) id = map->outside;
  }
  std::string marker = UniqueMarker();
  sandbox::Plan plan;
  LiveRun run;
  std::uint64_t id = 0;
};

TEST(HostIds, AreSharedByNoTwoSandboxesWhereThereAreAny) {
  Workbench one(Mode::kPrepared);
  Workbench two(Mode::kPrepared);
  const HostIds ids = IdsOf(one);
  const Waiting sandboxes[] = {Waiting(one), Waiting(one), Waiting(two), Waiting(two)};
  std::set<std::uint64_t> seen;
  for (const Waiting& each : sandboxes) seen.insert(each.id);
  if (GivesEachItsOwn(ids)) {
    EXPECT_EQ(seen.size(), 4U);
    EXPECT_FALSE(seen.contains(::getuid()));
  } else {
    EXPECT_EQ(seen, std::set<std::uint64_t>{::getuid()});
    EXPECT_NE(ids.why.what, "");
  }
  if (ids.kind != HostIds::Kind::kSubordinate) return;
  for (const std::uint64_t id : seen) EXPECT_LT(id - ids.users.first, ids.users.count) << id;
}

TEST(HostIds, AreTheUsersOwnWhereItsFilesAreShown) {
  Workbench bench(Mode::kPrepared);
  const HostIds ids = IdsOf(bench);
  const TempDir project = TempDir::Make(TempParent()).value();
  const auto show = [&](sandbox::Policy& policy) {
    policy.run.push_back(sandbox::HostTree{.source = project.path(),
                                           .target = "/project",
                                           .access = sandbox::Access::kReadWrite,
                                           .map_owner = true});
  };
  const Waiting with(bench, show);
  const Waiting without(bench);
  if (RunningAsRoot()) return;  // root can show them to any id
  EXPECT_EQ(with.id, ::getuid());
  EXPECT_THAT(sandbox::Describe(with.plan), HasSubstr("because '" + project.path()));
  EXPECT_EQ(without.id != ::getuid(), GivesEachItsOwn(ids));
}

TEST(HostIds, AreThereAgainAfterTheLauncherWasKilled) {
  Workbench bench(Mode::kPrepared);
  const HostIds ids = IdsOf(bench);
  ASSERT_TRUE(bench.Run(PlanForShell("true")));
  for (const ProcessInfo& each : ChildrenOf(::getpid())) {
    if (each.name == "igloo-jail") ::kill(each.pid, SIGKILL);
  }
  ASSERT_TRUE(WaitFor([&] { return bench.Run(PlanForShell("true")).has_value(); }));
  EXPECT_EQ(Waiting(bench).id != ::getuid(), GivesEachItsOwn(ids));
}

/// Never silently: when all ids are somebody's, it goes on with the user's own and says so.
TEST(HostIds, AreTheUsersOwnWhenAllAreTakenAndThatIsSaid) {
  const TempDir place = TempDir::Make(TempParent()).value();
  backend::Programs programs = BuiltPrograms();
  programs.leases = place.path() + "/igloo/ids";
  std::vector<backend::jail::IdBlock> taken;
  const auto ids = backend::jail::FindSubordinateIds();
  while (ids) {
    auto block = LeaseBlock(*ids, *programs.leases);
    if (!block) break;
    taken.push_back(*std::move(block));
  }
  Workbench full(Mode::kPrepared, programs);
  const HostIds none = full.backend().host_ids().value();
  if (RunningAsRoot() || taken.empty()) return;
  EXPECT_EQ(none.kind, HostIds::Kind::kStarters);
  EXPECT_THAT(none.why.what, HasSubstr("are in use"));
  EXPECT_EQ(Waiting(full).id, ::getuid());

  taken.pop_back();
  Workbench last(Mode::kPrepared, programs);
  std::vector<std::string> heard;
  last.backend().set_note([&](std::string_view note) { heard.emplace_back(note); });
  // The environment that comes first gets the last block.
  EXPECT_NE(Waiting(last).id, ::getuid());
  EXPECT_THAT(heard, ::testing::IsEmpty());
  const auto other = [](sandbox::Policy& policy) { policy.hostname = "other"; };
  EXPECT_EQ(Waiting(last, other).id, ::getuid());
  EXPECT_EQ(Waiting(last, other).id, ::getuid());
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_THAT(heard.front(), AllOf(HasSubstr("weaker"), HasSubstr("are in use")));
}

constexpr std::string_view kTakePipes = R"py(
import fcntl, os, signal, sys
for _ in range(6):
    if os.fork() == 0:
        kept = [os.pipe() for _ in range(240)]
        os.write(1, b"taken\n")
        signal.pause()
sys.stdin.readline()
)py";
constexpr std::string_view kMeasurePipe =
    "import fcntl, os\nprint('holds', fcntl.fcntl(os.pipe()[0], 1032))\n";

/// What one pipe holds in a sandbox while another one has taken all that the kernel gives to an id.
std::string PipeBesideATaker(Workbench& bench) {
  const auto python = [](std::string_view code) {
    return PlanFor("python", {.what = environment::Code{std::string(code)}});
  };
  const sandbox::Plan taking = python(kTakePipes);
  LiveRun taker(bench, taking);
  EXPECT_TRUE(taker.WaitForOutput("taken\ntaken\ntaken\ntaken\ntaken\ntaken\n"));
  return bench.Run(python(kMeasurePipe)).value().output.kept();
}

TEST(HostIds, KeepOneSandboxFromUsingUpAnothersPipes) {
  Workbench bench(Mode::kPrepared);
  const bool own = GivesEachItsOwn(IdsOf(bench));
  EXPECT_EQ(PipeBesideATaker(bench) == "holds 65536\n", own);
  backend::Programs off = BuiltPrograms();
  off.leases = std::string();
  Workbench shared(Mode::kPrepared, off);
  EXPECT_EQ(PipeBesideATaker(shared) == "holds 65536\n", RunningAsRoot()) << "the control";
}

TEST(HostIds, LeaveFilesToIglooThatAreClosedToAllOthers) {
  Interpreters python("python");
  const auto session = python.Open(Interpreters::From::kStart);
  ASSERT_TRUE(session) << python.error();
  const auto stamp = session::WriteBelow(session->workspace(),
                                         {.path = "in/given", .content = "given", .mode = 0600});
  ASSERT_TRUE(stamp) << stamp.error().what;
  EXPECT_EQ(python.Say(*session,
                       "import os\n"
                       "open('in/given', 'a').write(' and changed')\n"
                       "os.mkdir('closed', 0o700)\n"
                       "os.umask(0o077)\n"
                       "open('closed/made', 'w').write('made')\n"
                       "print({os.stat(p).st_uid for p in ('in', 'in/given', 'closed/made')})\n"),
            "{1000}\n");
  EXPECT_EQ(session::ReadBelow(session->workspace(), "in/given", 100), "given and changed");
  EXPECT_EQ(session::ReadBelow(session->workspace(), "closed/made", 100), "made");
}

/// The finding of that name: its state, and what it says.
std::pair<std::string, std::string> FindingOf(const std::string& text, std::string_view name) {
  const json::value document = json::parse(text);
  EXPECT_EQ(document.at("usable"), true) << text;
  for (const json::value& each : document.at("findings").as_array()) {
    if (each.at("name").as_string() == name) {
      return {json::value_to<std::string>(each.at("state")),
              json::value_to<std::string>(each.at("detail"))};
    }
  }
  return {};
}

Outcome WithoutNewPrivileges(std::vector<std::string> args) {
  args.insert(args.begin(), {"--no-new-privs", BinDirectory() + "/igloo"});
  return RunProgram({.program = "/usr/bin/setpriv", .args = std::move(args)});
}

TEST(HostIds, AreSaidToBeMissingWhereTheyCannotBeMapped) {
  Workbench bench(Mode::kPrepared);
  const HostIds ids = IdsOf(bench);
  const auto [usual, said] = FindingOf(Igloo({"doctor", "--json"}).out, "subordinate ids");
  EXPECT_EQ(usual == "ok", GivesEachItsOwn(ids)) << said;
  // There, no set-uid program gets its rights. Everything else works.
  const auto [state, why] =
      FindingOf(WithoutNewPrivileges({"doctor", "--json"}).out, "subordinate ids");
  const std::string log = WithoutNewPrivileges({"mcp"}).err;
  constexpr const char* kWeaker = "weaker user id, without an id of its own for each sandbox";
  if (RunningAsRoot()) {
    EXPECT_EQ(state, "ok");
    EXPECT_THAT(log, Not(HasSubstr("weaker user id")));
    return;
  }
  EXPECT_EQ(state, "missing");
  EXPECT_NE(why, "");
  if (GivesEachItsOwn(ids)) EXPECT_THAT(why, HasSubstr("no_new_privs"));
  EXPECT_THAT(log, HasSubstr(kWeaker));
}

/// What only a trial tells: newuidmap is there and does not work.
TEST(HostIds, AreSaidToBeMissingWhereMappingFails) {
  if (Promised() != "broken") {
    Workbench bench(Mode::kPrepared);
    EXPECT_EQ(bench.backend().host_ids().value().kind, bench.backend().expected_ids().kind);
    return;
  }
  const auto [state, why] = FindingOf(Igloo({"doctor", "--json"}).out, "subordinate ids");
  EXPECT_EQ(state, "missing");
  EXPECT_THAT(why, HasSubstr("newuidmap failed"));
  McpClient client;
  client.Initialize();
  EXPECT_EQ(client.Run("shell", "echo works").at("structuredContent").at("stdout"), "works\n");
  client.running().Finish();
  EXPECT_THAT(client.running().errors(), HasSubstr("weaker user id: sandboxes have the id of"));
}

TEST(HostIds, CanBeSwitchedOffAndThatIsSaid) {
  std::vector<std::string> variables = UsualVariables();
  variables.emplace_back("IGLOO_SUBORDINATE_IDS=off");
  const Outcome outcome = RunProgram({.program = BinDirectory() + "/igloo",
                                      .args = {"doctor", "--json"},
                                      .env = std::move(variables)});
  const auto [state, why] = FindingOf(outcome.out, "subordinate ids");
  EXPECT_EQ(state, RunningAsRoot() ? "ok" : "missing");
  if (!RunningAsRoot()) EXPECT_THAT(why, HasSubstr("IGLOO_SUBORDINATE_IDS is 'off'"));
}

}  // namespace
}  // namespace igloo::testing
