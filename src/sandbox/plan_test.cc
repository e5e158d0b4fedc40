#include "sandbox/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "sandbox/testing.h"

namespace igloo::sandbox {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing;  // NOLINT(google-build-using-namespace)

TEST(MakePlanTest, AnEmptyPolicyIsTheWholeWallAndNothingElse) {
  const Plan plan = PlanOf(PolicyWith({}));
  EXPECT_THAT(plan.environment,
              ElementsAre(step::Root{{.bytes = 8U << 20, .inodes = 65536}},
                          step::Directory{"/.igloo"}, step::Directory{"/.igloo/empty", 0555},
                          step::File{"/.igloo/nothing", "", 0444}, step::Directory{"/proc"},
                          step::Proc{"/proc"}, step::EnterRoot{}, step::SealRoot{}));
  EXPECT_THAT(plan.fresh,
              ElementsAre(step::Hostname{"igloo"}, step::NoMoreNamespaces{},
                          step::Mask{"/proc/kallsyms", false}, step::Mask{"/proc/keys", false},
                          step::Mask{"/proc/key-users", false}, step::Mask{"/proc/mtrr", false},
                          step::Mask{"/proc/acpi", true}, step::Mask{"/proc/bus", true},
                          step::Mask{"/proc/fs", true}, step::Mask{"/proc/irq", true},
                          step::Mask{"/proc/scsi", true}, step::ReadOnly{"/proc/sys"},
                          step::BoundPrivileges{}, step::PrivateNetwork{}));
  EXPECT_THAT(plan.run, ElementsAre(step::DropPrivileges{}, step::StartInit{}));
}

TEST(MakePlanTest, EveryEntryBecomesItsStepInAPlaceThatExists) {
  const Plan plan = PlanOf(PolicyWith({
      HostTree{.source = "/host/dir", .target = "/usr"},
      HostTree{.source = "/host/file",
               .target = "/etc/file",
               .access = Access::kReadWrite,
               .map_owner = true},
      MemoryTree{.target = "/mem",
                 .capacity = {.bytes = 9, .inodes = 8},
                 .mode = 01777,
                 .execution = Execution::kForbidden},
      Link{.path = "/bin", .points_to = "usr/bin"},
      TextFile{.path = "/etc/text", .content = "hello", .mode = 0400},
      EmptyDirectory{.path = "/empty", .mode = 0700},
      DeviceNode{"null"},
  }));
  EXPECT_THAT(
      Middle(plan),
      ElementsAre(step::Directory{"/usr"}, BindOf("/host/dir", "/usr"), step::Directory{"/mem"},
                  step::Tmpfs{"/mem", {.bytes = 9, .inodes = 8}, 01777, Execution::kForbidden},
                  step::Symlink{"/bin", "usr/bin"}, step::Directory{"/empty", 0700},
                  step::Directory{"/etc"}, step::File{"/etc/file", "", 0444},
                  step::Bind{"/host/file", "/etc/file", Access::kReadWrite, kRegular, false, true},
                  step::File{"/etc/text", "hello", 0400}, step::Directory{"/dev"},
                  step::File{"/dev/null", "", 0444},
                  step::Bind{"/dev/null", "/dev/null", Access::kReadWrite, kNull, true, false},
                  step::Directory{"/proc"}));
}

TEST(MakePlanTest, NoLinkLeadsToWhatWasResolvedBefore) {
  HostTree tree{.source = "/host/link/dir", .target = "/p"};
  EXPECT_THAT(RunMiddle(PlanOf(PolicyWith({}, {tree}))),
              Contains(BindOf("/host/link/dir", "/p", kBehindLink)))
      << "control: a link is no mistake elsewhere";
  tree.links = Links::kRefused;
  EXPECT_THAT(ErrorOf(PolicyWith({}, {tree})).what, HasSubstr("put a link into the path"));
  OverlayTree view{.source = "/host/link/dir", .target = "/p", .links = Links::kRefused};
  EXPECT_THAT(ErrorOf(PolicyWith({}, {view})).what, HasSubstr("put a link into the path"));
}

TEST(MakePlanTest, AnOverlayGetsItsWorkshop) {
  const Plan plan = PlanOf(PolicyWith(
      {}, {OverlayTree{.source = "/host/dir", .target = "/project", .capacity = {.bytes = 5}}}));
  EXPECT_THAT(Middle(plan),
              ElementsAre(step::Directory{"/proc"}, step::Directory{"/.igloo/lower"},
                          step::Directory{"/.igloo/upper"}, step::Directory{"/project"}));
  EXPECT_THAT(RunMiddle(plan),
              ElementsAre(step::Overlay{"/host/dir", "/project", {.bytes = 5}, kDirectory}));
}

TEST(MakePlanTest, AnOverlayThatKeepsItsChangesGetsTheirDirectoryFirst) {
  const Plan plan = PlanOf(PolicyWith(
      {}, {OverlayTree{.source = "/host/dir", .target = "/project", .changes = "/host/other"}}));
  EXPECT_THAT(RunMiddle(plan), ElementsAre(step::Bind{"/host/other", kChangesPlace,
                                                      Access::kReadWrite, kDirectory, false, true},
                                           step::Overlay{.source = "/host/dir",
                                                         .target = "/project",
                                                         .fact = kDirectory,
                                                         .keeps_changes = true}));
  for (const PathRule& rule : plan.payload.paths) {
    EXPECT_NE(rule.path, kChangesPlace) << "code has no right to it";
  }
}

TEST(MakePlanTest, ChangesAreKeptInADirectoryAndOnlyOfAWritableOverlay) {
  OverlayTree tree{.source = "/host/dir", .target = "/p", .changes = "/host/file"};
  EXPECT_THAT(ErrorOf(PolicyWith({}, {tree})).what, HasSubstr("'/host/file' is not a directory"));
  tree.changes = "/host/gone";
  EXPECT_EQ(ErrorOf(PolicyWith({}, {tree})).code, Errc::kNotFound);
  tree.changes = "/host/other";
  tree.access = Access::kReadOnly;
  EXPECT_THAT(ErrorOf(PolicyWith({}, {tree})).what, HasSubstr("has no changes"));
}

TEST(MakePlanTest, AnOverlayOfAFileIsRefused) {
  const Error error =
      ErrorOf(PolicyWith({}, {OverlayTree{.source = "/host/file", .target = "/p"}}));
  EXPECT_EQ(error.code, Errc::kInvalidArgument);
  EXPECT_THAT(error.what, HasSubstr("is not a directory"));
}

TEST(MakePlanTest, AnOverlayThatAllRunsShareIsRefused) {
  const Error error = ErrorOf(PolicyWith({OverlayTree{.source = "/host/dir", .target = "/p"}}));
  EXPECT_EQ(error.code, Errc::kInvalidArgument);
  EXPECT_THAT(error.what, HasSubstr("shared by all runs"));
  EXPECT_THAT(error.hint, HasSubstr("part of a run"));
}

TEST(MakePlanTest, AMissingSourceIsAnErrorUnlessOptional) {
  HostTree tree{.source = "/host/gone", .target = "/gone"};
  const Error error = ErrorOf(PolicyWith({tree}));
  EXPECT_EQ(error, (Error{.code = Errc::kNotFound,
                          .what = "'/host/gone' does not exist",
                          .hint = "create it, or remove it from the configuration"}));
  EXPECT_EQ(ErrorOf(PolicyWith({}, {OverlayTree{.source = "/host/gone", .target = "/gone"}})),
            error);
  EXPECT_EQ(ErrorOf(PolicyWith({DeviceNode{"zero"}})).code, Errc::kNotFound);

  tree.presence = Presence::kOptional;
  EXPECT_EQ(PlanOf(PolicyWith({tree})).environment, PlanOf(PolicyWith({})).environment);
  EXPECT_TRUE(MakePlan(PolicyWith({tree, EmptyDirectory{.path = "/gone"}}), Facts()))
      << "what is absent is in nobody's way";
}

/// The kernel would end the path there, and show what lies before it.
TEST(MakePlanTest, ASourceWithAZeroByteIsRefused) {
  using namespace std::string_literals;  // NOLINT(google-build-using-namespace)
  const std::string source = "/host/dir\0/nix/store/x"s;
  HostFacts facts = Facts();
  facts[source] = kDirectory;
  for (const Policy& policy :
       {PolicyWith({HostTree{.source = source, .target = "/x"}}),
        PolicyWith({},
                   {HostTree{.source = source, .target = "/x", .presence = Presence::kOptional}}),
        PolicyWith({}, {OverlayTree{.source = source, .target = "/x"}})}) {
    const auto plan = MakePlan(policy, facts);
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, Errc::kInvalidArgument);
    EXPECT_THAT(plan.error().what, HasSubstr("zero byte, behind '/host/dir'"));
  }
}

TEST(MakePlanTest, ASourceNobodyLookedAtIsABug) {
  EXPECT_EQ(ErrorOf(PolicyWith({HostTree{
                        .source = "/unknown", .target = "/x", .presence = Presence::kOptional}}))
                .code,
            Errc::kInternal);
}

TEST(MakePlanTest, OnlyHarmlessDevicesAreAllowed) {
  for (const char* name : {"sda", "kvm", "tty", "", "..", "../etc", "null/x", "pts/0"}) {
    EXPECT_EQ(ErrorOf(PolicyWith({DeviceNode{name}})).code, Errc::kInvalidArgument) << name;
  }
  EXPECT_EQ(ErrorOf(PolicyWith({DeviceNode{"full"}})).code, Errc::kFailedPrecondition)
      << "a regular file called /dev/full is not the device";
}

TEST(MakePlanTest, SourcesAreAllThatIsAskedFor) {
  const Policy policy =
      PolicyWith({HostTree{.source = "/a", .target = "/x"}, DeviceNode{"null"}, Link{"/l", "y"}},
                 {OverlayTree{.source = "/b", .target = "/y"}});
  EXPECT_THAT(SourcesOf(policy), ElementsAre("/a", "/dev/null", "/b"));
}

TEST(MakePlanTest, RootInsideIsRefused) {
  Policy policy = PolicyWith({});
  policy.identity.uid = 0;
  EXPECT_EQ(ErrorOf(policy).code, Errc::kInvalidArgument);
  policy = PolicyWith({});
  policy.identity.gid = 0;
  EXPECT_EQ(ErrorOf(policy).code, Errc::kInvalidArgument);
}

TEST(MakePlanTest, AProgramAndAPlainWorkingDirectoryAreNeeded) {
  Policy policy = PolicyWith({});
  policy.argv = {};
  EXPECT_EQ(ErrorOf(policy).code, Errc::kInvalidArgument);
  policy.argv = {""};
  EXPECT_EQ(ErrorOf(policy).code, Errc::kInvalidArgument);
  for (const char* cwd : {"", "work", "/a/../b"}) {
    policy = PolicyWith({});
    policy.cwd = cwd;
    EXPECT_EQ(ErrorOf(policy).code, Errc::kInvalidArgument) << cwd;
  }
}

TEST(MakePlanTest, VariablesAreCheckedAndSorted) {
  using namespace std::string_literals;
  const std::pair<std::string, std::string> bad[] = {
      {"", "x"}, {"A=B", "x"}, {"A\0B"s, "x"}, {"A", "x\0y"s}};
  for (const auto& variable : bad) {
    Policy policy = PolicyWith({});
    policy.variables.insert(variable);
    EXPECT_EQ(ErrorOf(policy).code, Errc::kInvalidArgument);
  }
  Policy policy = PolicyWith({});
  policy.variables = {{"B", "2=3"}, {"A", ""}};
  EXPECT_THAT(PlanOf(policy).payload.env, ElementsAre("A=", "B=2=3"));
}

TEST(MakePlanTest, OnlyTheHostsNetworkComesWithoutAPrivateOne) {
  Policy policy = PolicyWith({});
  EXPECT_THAT(PlanOf(policy).fresh, Contains(Step(step::PrivateNetwork{})));
  policy.network = HostNetwork("because");
  const Plan plan = PlanOf(policy);
  for (const auto& steps : {plan.environment, plan.fresh, plan.run}) {
    EXPECT_THAT(steps, Not(Contains(Step(step::PrivateNetwork{}))));
  }
  ASSERT_TRUE(std::holds_alternative<HostNetwork>(plan.network));
  EXPECT_EQ(std::get<HostNetwork>(plan.network).reason, "because");
}

TEST(MakePlanTest, ListeningComesAfterTheNetworkAndBeforePrivilegesGo) {
  Policy policy = PolicyWith({});
  policy.listen = {80, 8080};
  policy.sockets = 3;
  const Plan plan = PlanOf(policy);
  EXPECT_EQ(plan.fresh.back(), Step{step::PrivateNetwork{}});
  EXPECT_THAT(plan.run, ElementsAre(step::Listen{80}, step::Listen{8080}, step::Sockets{3},
                                    step::DropPrivileges{}, step::StartInit{}));
}

TEST(MakePlanTest, HandsOutNothingButMemoryOfTheRunsOwn) {
  Policy policy = PolicyWith({HostTree{.source = "/host/dir", .target = "/ro"}},
                             {MemoryTree{.target = "/w"}, EmptyDirectory{.path = "/w/sub"},
                              HostTree{.source = "/host/dir", .target = "/rw"},
                              TextFile{.path = "/w/file", .content = "x"}});
  policy.hand_out = {"/w", "/w/sub"};
  const Plan plan = PlanOf(policy);
  EXPECT_THAT(plan.run,
              ::testing::IsSupersetOf({Step{step::HandOut{"/w"}}, Step{step::HandOut{"/w/sub"}}}));
  for (const char* path : {"/ro", "/rw", "/w/file", "/w/none", "/", "/w/..", "/proc", "w"}) {
    policy.hand_out = {path};
    EXPECT_FALSE(MakePlan(policy, Facts())) << path;
  }
}

TEST(MakePlanTest, ThePayloadIsThePolicysWordForWord) {
  Policy policy =
      PolicyWith({HostTree{.source = "/host/dir", .target = "/ro"}, DeviceNode{"null"}},
                 {MemoryTree{.target = "/z"},
                  HostTree{.source = "/host/dir", .target = "/rw", .access = Access::kReadWrite},
                  OverlayTree{.source = "/host/dir", .target = "/ov"}});
  policy.argv = {"/bin/echo", "a b"};
  policy.variables = {{"A", "1"}};
  policy.limits = {.time_ms = 1,
                   .grace_ms = 2,
                   .memory_bytes = 3,
                   .millicpus = 1500,
                   .processes = 4,
                   .open_files = 0,
                   .file_bytes = 6,
                   .stack_bytes = 7,
                   .cpu_seconds = 8};
  policy.seccomp = Seccomp::kDebug;
  policy.extra_descriptors = 2;
  const Payload expected{.argv = {"/bin/echo", "a b"},
                         .env = {"A=1"},
                         .cwd = "/work",
                         .time_ms = 1,
                         .grace_ms = 2,
                         .memory_bytes = 3,
                         .millicpus = 1500,
                         .limits = {{"core", RLIMIT_CORE, 1},
                                    {"memlock", RLIMIT_MEMLOCK, 65536},
                                    {"msgqueue", RLIMIT_MSGQUEUE, 65536},
                                    {"sigpending", RLIMIT_SIGPENDING, 256},
                                    {"nice", RLIMIT_NICE, 0},
                                    {"rtprio", RLIMIT_RTPRIO, 0},
                                    {"data", RLIMIT_DATA, (16ULL << 30) + 3},
                                    {"nproc", RLIMIT_NPROC, 4},
                                    {"fsize", RLIMIT_FSIZE, 6},
                                    {"stack", RLIMIT_STACK, 7},
                                    {"cpu", RLIMIT_CPU, 8}},
                         .paths = {{PathRight::kRead, "/"},
                                   {PathRight::kReadWrite, "/ov"},
                                   {PathRight::kReadWrite, "/rw"},
                                   {PathRight::kReadWrite, "/z"},
                                   {PathRight::kDevice, "/dev"}},
                         .seccomp = Seccomp::kDebug,
                         .extra_descriptors = 2};
  EXPECT_EQ(PlanOf(policy).payload, expected);
}

TEST(MakePlanTest, ADeviceIsMadeBeforeSettingsAreFrozenAndWhatItClosesBeforeCodeRuns) {
  Policy policy = PolicyWith({});
  policy.network = ConnectedNetwork{
      .tier = "internet",
      .device = Device{.carrier = "/usr/bin/pasta", .closed = {"10.0.0.0/8", "127.0.0.0/8"}}};
  const std::vector<Step> plain = PlanOf(PolicyWith({})).fresh;
  std::vector<Step> expected(plain.begin(), plain.begin() + 2);
  expected.insert(expected.end(), {step::PrivateNetwork{}, step::Edge{"192.0.2.2", "192.0.2.1"},
                                   step::Closed{"10.0.0.0/8"}, step::Closed{"127.0.0.0/8"}});
  expected.insert(expected.end(), plain.begin() + 2, plain.end() - 1);
  EXPECT_EQ(PlanOf(policy).fresh, expected);

  std::get<ConnectedNetwork>(policy.network).device->resolver = "9.9.9.9";
  EXPECT_EQ(PlanOf(policy).fresh, expected) << "one that can be reached needs no opening";
  std::get<ConnectedNetwork>(policy.network).device->resolver = own_network::kResolver;
  expected.insert(expected.begin() + 6, step::Resolver{"192.0.2.9"});
  EXPECT_EQ(PlanOf(policy).fresh, expected);
}

}  // namespace
}  // namespace igloo::sandbox
