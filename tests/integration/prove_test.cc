// `igloo doctor --prove`: walls that stand are proven to, one with a hole is not, and nothing of
// the attacks stays behind.

#include "prove/prove.h"

#include <gmock/gmock.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <deque>
#include <filesystem>
#include <optional>

#include "base/replace_file.h"
#include "prove/case.h"
#include "support/configured.h"
#include "support/host.h"
#include "support/running.h"
#include "support/sandbox.h"
#include "support/terminal.h"

namespace igloo::testing {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
namespace json = boost::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// A directory for temporary files and what is in it.
class Prove : public Configured {
 protected:
  void SetUp() override {
    Configured::SetUp();
    fs::create_directory(temporary());
    fs::permissions(temporary(), fs::perms(01777));
  }
  std::string temporary() const { return Path("t"); }
  std::vector<std::string> Variables() const {
    std::vector<std::string> all = UsualVariables();
    all.push_back("TMPDIR=" + temporary());
    return all;
  }
  Outcome Try(std::vector<std::string> args, const std::string& bin = BinDirectory()) const {
    args.insert(args.begin(), {"doctor", "--prove"});
    return RunProgram({.program = bin + "/igloo", .args = std::move(args), .env = Variables()});
  }
  std::vector<std::string> Left() const {
    std::vector<std::string> left;
    for (const auto& each : fs::directory_iterator(temporary())) left.push_back(each.path());
    return left;
  }
};

std::vector<std::string> NamesOf(const json::array& rows, const char* side, const char* ending) {
  std::vector<std::string> names;
  for (const json::value& row : rows) {
    if (row.at(side).at("ending") == ending) names.emplace_back(row.at("name").as_string());
  }
  return names;
}

TEST_F(Prove, EveryWallOfThisMachineStands) {
  const Outcome outcome = Try({"--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json::value document = json::parse(outcome.out);
  EXPECT_EQ(document.at("good"), true);
  EXPECT_THAT(document.at("complaints").as_array(), IsEmpty());
  std::vector<std::string> standing;
  for (const json::value& wall : document.at("walls").as_array()) {
    const std::string name(wall.at("name").as_string());
    if (wall.as_object().contains("missing")) {
      EXPECT_NE(name, wall::kDefault.name);
      continue;
    }
    standing.push_back(name);
    const json::array& rows = wall.at("rows").as_array();
    EXPECT_EQ(rows.size(), prove::AllCases().size());
    EXPECT_THAT(wall.at("unproven_promises").as_array(), IsEmpty()) << name;
    EXPECT_THAT(NamesOf(rows, "control", "did not run"), IsEmpty());
    for (const json::value& row : rows) {
      if (row.at("promised").as_bool()) {
        EXPECT_EQ(row.at("behind").at("ending"), "held") << name << ": " << row;
      }
    }
    // A few may be out of reach of this machine's kernel; all but those prove something.
    EXPECT_GT(wall.at("proofs").as_int64(), static_cast<std::int64_t>(rows.size() * 3 / 4))
        << outcome.out;
  }
  EXPECT_THAT(standing, IsSupersetOf({"jail", "bubblewrap"}));
  EXPECT_THAT(standing, Contains(document.at("recommended").as_string()));
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(Prove, TheTableShowsAttackControlAndResult) {
  const Outcome outcome = Try({"--backend", "jail"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("P1 code reads no file of the host but what it is shown"),
                    HasSubstr("attack  "), HasSubstr("without a wall"), HasSubstr("behind it"),
                    ::testing::ContainsRegex("read a secret file by its path +won +held"),
                    HasSubstr("It stands."), HasSubstr("jail stands."), Not(HasSubstr("LEAKED"))));
  EXPECT_THAT(outcome.out, Not(HasSubstr("bubblewrap")));
}

TEST_F(Prove, AWeakerWallSaysWhatItDoesNotPromise) {
  const Outcome outcome = Try({"--backend", "bubblewrap"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("weaker: "),
            ::testing::ContainsRegex("a socket that lies in the project +won +no promise")));
}

TEST_F(Prove, ProgressIsShownOnATerminal) {
  Terminal terminal(BinDirectory() + "/igloo", {"doctor", "--prove", "--backend", "jail"});
  EXPECT_EQ(terminal.Finish(), 0) << terminal.output();
  EXPECT_THAT(terminal.output(), AllOf(HasSubstr("attack 1 of "), HasSubstr(", without a wall"),
                                       HasSubstr(", jail"), HasSubstr("It stands.")));
}

/// The jail with a hole in it.
class WeakBackend : public backend::Backend {
 public:
  using Weaken = void (*)(sandbox::Plan&);
  WeakBackend(backend::Programs programs, Weaken weaken)
      : jail_(std::move(programs), backend::jail::Mode::kCold), weaken_(weaken) {}

  Result<std::unique_ptr<backend::Sandbox>> Start(const sandbox::Plan& plan,
                                                  backend::Channels channels) override {
    // Plans outlive their sandboxes.
    weaken_(plans_.emplace_back(plan));
    return jail_.Start(plans_.back(), std::move(channels));
  }

 private:
  std::deque<sandbox::Plan> plans_ = {};
  backend::jail::JailBackend jail_;
  Weaken weaken_;
};

struct Hole {
  const char* name;
  WeakBackend::Weaken weaken;
  std::vector<std::string> leaks;  ///< attacks that must find it
};

void PrintTo(const Hole& hole, std::ostream* out) { *out << hole.name; }

template <class Step>
void Drop(sandbox::Plan& plan) {
  for (auto* steps : {&plan.environment, &plan.fresh, &plan.run}) {
    std::erase_if(*steps,
                  [](const sandbox::Step& step) { return std::holds_alternative<Step>(step); });
  }
}

void ShareNetwork(sandbox::Plan& plan) {
  plan.network = sandbox::HostNetwork("a hole, for a test");
  Drop<sandbox::step::PrivateNetwork>(plan);
}

void UncoverProc(sandbox::Plan& plan) { Drop<sandbox::step::Mask>(plan); }

void GiveRoom(sandbox::Plan& plan) {
  for (auto* steps : {&plan.environment, &plan.fresh, &plan.run}) {
    for (sandbox::Step& step : *steps) {
      auto* tmpfs = std::get_if<sandbox::step::Tmpfs>(&step);
      if (tmpfs != nullptr) tmpfs->capacity = {.bytes = 1U << 30, .inodes = 100'000};
    }
  }
}

/// What igloo-init keeps (the filter, limits, Landlock) is not a backend's to leave out.
const Hole kHoles[] = {
    {"Network", ShareNetwork, {"HostLoopbackTcp", "HostListenersSeen"}},
    {"Proc", UncoverProc, {"KernelSymbols", "Keys"}},
    {"Places", GiveRoom, {"SmallTemporarySpace", "SmallWorkspaceSpace", "SmallNumberOfFiles"}},
};

class WeakenedWall : public ::testing::TestWithParam<Hole> {};

constexpr wall::Wall kWeak = {.name = "weak",
                              .description = "the jail with a hole",
                              .served = true,
                              .can = wall::kDefault.can};

template <std::size_t kIndex>
Result<std::unique_ptr<backend::Backend>> MakeWeak(backend::Options options) {
  return std::make_unique<WeakBackend>(std::move(options.programs), kHoles[kIndex].weaken);
}
constexpr decltype(&MakeWeak<0>) kMakers[] = {MakeWeak<0>, MakeWeak<1>, MakeWeak<2>};
static_assert(std::size(kMakers) == std::size(kHoles));

Result<prove::Report> ProveWalls(std::span<const wall::Wall> walls,
                                 std::span<const backend::Factory> factories) {
  asio::io_context loop(1);
  std::optional<Result<prove::Report>> report;
  prove::Options options{.programs = BuiltPrograms(),
                         .attack_program = BinDirectory() + "/igloo-attack",
                         .scene_parent = TempParent(),
                         .walls = walls,
                         .factories = factories};
  asio::co_spawn(loop, prove::Prove(loop, std::move(options), {}),
                 [&](const std::exception_ptr&, Result<prove::Report> value) {
                   report = std::move(value);
                   loop.stop();
                 });
  loop.run();
  return *std::move(report);
}

TEST_P(WeakenedWall, IsFoundOut) {
  const auto hole = static_cast<std::size_t>(
      std::ranges::find(kHoles, std::string_view(GetParam().name), &Hole::name) - kHoles);
  const std::vector<wall::Wall> walls = {wall::kDefault, kWeak};
  std::vector<backend::Factory> factories(backend::Factories().begin(), backend::Factories().end());
  factories.push_back({.wall = "weak", .make = kMakers[hole]});
  const auto report = ProveWalls(walls, factories);
  ASSERT_TRUE(report) << report.error().what;
  ASSERT_EQ(report->walls.size(), 2U);
  EXPECT_FALSE(report->Good());
  std::vector<std::string> leaks;
  for (const prove::Row& row : report->walls[1].rows) {
    if (row.Leaked()) leaks.push_back(row.name);
  }
  EXPECT_THAT(leaks, IsSupersetOf(GetParam().leaks));
  for (const std::string& name : GetParam().leaks) {
    EXPECT_THAT(report->Complaints(), Contains(AllOf(HasSubstr("weak leaked: "), HasSubstr(name))));
  }
  EXPECT_TRUE(report->walls[0].Stands()) << "control: the same attacks on the whole wall";
  ASSERT_NE(report->Strongest(), nullptr);
  EXPECT_EQ(report->Strongest()->name, wall::kDefault.name) << "a wall that leaks is recommended";
}

std::string HoleName(const ::testing::TestParamInfo<Hole>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Holes, WeakenedWall, ::testing::ValuesIn(kHoles), HoleName);

/// igloo with another igloo-attack.
class OtherAttack : public Prove {
 protected:
  void SetUp() override {
    Prove::SetUp();
    fs::create_directory(Path("bin"));
    for (const char* name : {"igloo", "igloo-core", "igloo-jail", "igloo-init"}) {
      fs::copy_file(BinDirectory() + "/" + name, Path("bin/") + name);
    }
  }
  /// A shell script that lets the scene be set, and says `code` of every attack.
  void WriteAttack(const std::string& code) const {
    Write("bin/igloo-attack",
          "#!/bin/sh\ncase $1 in\n"
          "victim) echo ready; exec sleep 1000;;\n"
          "battery) i=0; while [ $i -lt 300 ]; do echo \"@ $i " +
              code + "\"; i=$((i + 1)); done; exit 0;;\nesac\nexit " + code + "\n");
    fs::permissions(Path("bin/igloo-attack"), fs::perms(0755));
  }
};

TEST_F(OtherAttack, ThatWinsEverywhereFailsTheProof) {
  WriteAttack("42");
  const Outcome outcome = Try({"--backend", "jail"}, Path("bin"));
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("problem: jail leaked: read a secret file by its path (SecretByPath)"),
            HasSubstr("LEAKED"), HasSubstr("It is not proven."),
            HasSubstr("No wall is proven on this machine."), Not(HasSubstr("It stands."))));
}

TEST_F(OtherAttack, ThatNeverRunsFailsTheProof) {
  WriteAttack("3");
  const Outcome outcome = Try({"--backend", "jail"}, Path("bin"));
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("did not run: read a secret file by its path"),
                                 HasSubstr("no attack on P1 counts")));
}

TEST_F(OtherAttack, ThatIsHeldEverywhereProvesNothing) {
  WriteAttack("7");
  const Outcome outcome = Try({"--backend", "jail"}, Path("bin"));
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("cannot win here"), HasSubstr("no attack on P1 counts as a proof")));
}

TEST_F(OtherAttack, ThatIsMissingIsSaid) {
  const Outcome outcome = Try({}, Path("bin"));
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("igloo-attack is not beside"), HasSubstr("make install")));
}

class SignedReport : public Prove {
 protected:
  std::string MakeKey() const {
    std::string key = Path("key");
    EXPECT_EQ(RunProgram({.program = "/usr/bin/ssh-keygen",
                          .args = {"-q", "-t", "ed25519", "-N", "", "-f", key}})
                  .status,
              0);
    return key;
  }
  /// Carries out the commands that igloo printed.
  Outcome Verify(const std::string& printed) const {
    std::string commands = "cd " + Path("") + "\n";
    std::istringstream lines(printed.substr(printed.find("To verify it:")));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  ")) commands += line + "\n";
    }
    return RunProgram({.program = "/bin/sh", .args = {"-ec", commands}});
  }
};

TEST_F(SignedReport, IsVerifiedByTheCommandsThatIglooPrints) {
  // ssh-keygen works for nobody else. What igloo says then is what can be seen here.
  if (::getpwuid(::geteuid()) == nullptr) {
    const std::string file = Path("report.json");
    const Outcome outcome =
        Try({"--backend", "jail", "--report", file, "--sign", Write("key", "")});
    EXPECT_EQ(outcome.status, 125);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("No user exists"), HasSubstr("did not sign"),
                                   HasSubstr("the report itself is written")));
    EXPECT_EQ(json::parse(Read("report.json")).at("good"), true);
    return;
  }
  const std::string key = MakeKey(), file = Path("a report.json");
  const Outcome outcome = Try({"--backend", "jail", "--report", file, "--sign", key});
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const Outcome verified = Verify(outcome.out);
  EXPECT_EQ(verified.status, 0) << verified.err << outcome.out;
  EXPECT_THAT(verified.out, HasSubstr("Good \"igloo-prove\" signature for signer"));

  const json::value report = json::parse(Read("a report.json"));
  EXPECT_EQ(report.at("good"), true);
  EXPECT_THAT(std::string(report.at("machine").at("kernel").as_string()), HasSubstr("Linux"));
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0644)) << "not the scene's umask";

  std::string changed = Read("a report.json");
  changed.replace(changed.find("\"good\":true"), 11, "\"good\":1234");
  Write("a report.json", changed);
  EXPECT_NE(Verify(outcome.out).status, 0) << "control: a changed report is noticed";
  // Again: an older signature is replaced without a question.
  const Outcome again = Try({"--backend", "jail", "--json", "--report", file, "--sign", key});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(json::parse(again.out).at("good"), true) << "standard output is JSON alone";
  EXPECT_EQ(Verify(again.err).status, 0);
}

TEST_F(SignedReport, IsRefusedBeforeAnyAttackWhenItCannotBeMade) {
  const struct {
    std::vector<std::string> args;
    std::string said;
  } cases[] = {
      {{"--sign", Path("none")}, "add --report FILE"},
      {{"--report", Path("r"), "--sign", Path("none")}, "there is no key"},
      {{"--report", Path("r"), "--sign", ""}, "there is no key"},
      {{"--report", Path("no/r")}, "cannot write a report to"},
      {{"--report", Path("")}, "is no name for a report"},
      {{"--backend", "paper"}, "there is no backend 'paper'"},
      {{"--config", Path("c")}, "without any configuration"},
  };
  for (const auto& [args, said] : cases) {
    const Outcome outcome = Try(args);
    EXPECT_EQ(outcome.status, 125) << said;
    EXPECT_THAT(outcome.err, HasSubstr(said));
    EXPECT_EQ(outcome.out, "");
  }
  const Outcome outcome =
      RunProgram({.program = BinDirectory() + "/igloo",
                  .args = {"doctor", "--prove", "--report", Path("r"), "--sign", Path("none")},
                  .env = {"PATH=" + Path("")}});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("there is no ssh-keygen"), HasSubstr("openssh-client")));
  EXPECT_FALSE(fs::exists(Path("r")));
}

TEST_F(SignedReport, OptionsOfItBelongToProve) {
  for (const char* option : {"--backend=jail", "--report=r", "--sign=k"}) {
    const Outcome outcome = Igloo({"doctor", option});
    EXPECT_EQ(outcome.status, 125) << option;
    EXPECT_THAT(outcome.err, HasSubstr("belongs to '--prove'"));
  }
}

class InterruptedProof : public Prove, public ::testing::WithParamInterface<int> {};

TEST_P(InterruptedProof, LeavesNothingBehind) {
  Running igloo(
      {.program = BinDirectory() + "/igloo", .args = {"doctor", "--prove"}, .env = Variables()});
  const auto scene = [&]() -> std::string {
    for (const std::string& each : Left()) {
      if (fs::exists(each + "/project/igloo-attack")) return fs::path(each).filename();
    }
    return {};
  };
  std::string id;
  ASSERT_TRUE(WaitFor([&] { return !(id = scene()).empty(); }));
  // Control: its victim runs, so there is something to leave behind.
  ASSERT_TRUE(WaitFor([&] { return !FindMarked(id).empty(); }));
  ASSERT_TRUE(fs::exists("/dev/shm/" + id));
  igloo.Signal(GetParam());
  const Outcome outcome = igloo.Finish();
  EXPECT_EQ(outcome.status, 128 + GetParam()) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("interrupted: nothing is left behind, nothing is proven"));
  EXPECT_THAT(Left(), IsEmpty());
  EXPECT_TRUE(WaitFor([&] { return FindMarked(id).empty() && FindMarked("left-" + id).empty(); }));
  EXPECT_FALSE(fs::exists("/dev/shm/" + id)) << "shared memory has the scene's name";
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptedProof, ::testing::Values(SIGINT, SIGTERM, SIGHUP));

}  // namespace
}  // namespace igloo::testing
