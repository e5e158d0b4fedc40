#include "sandbox/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>

namespace igloo::sandbox {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr PathFact kDirectory{.device = 1, .inode = 2, .type = S_IFDIR, .uid = 3, .gid = 4};
constexpr PathFact kRegular{.device = 1, .inode = 5, .type = S_IFREG};
constexpr PathFact kNull{.device = 6, .inode = 7, .type = S_IFCHR};

const HostFacts& Facts() {
  static const HostFacts facts = {{"/host/dir", kDirectory},   {"/host/other", kDirectory},
                                  {"/host/file", kRegular},    {"/host/gone", std::nullopt},
                                  {"/dev/null", kNull},        {"/dev/sda", kNull},
                                  {"/dev/zero", std::nullopt}, {"/dev/full", kRegular}};
  return facts;
}

Policy PolicyWith(std::vector<Entry> environment, std::vector<Entry> run = {}) {
  Policy policy;
  policy.environment = std::move(environment);
  policy.run = std::move(run);
  policy.argv = {"/bin/true"};
  policy.cwd = "/work";
  return policy;
}

Plan PlanOf(const Policy& policy) {
  auto plan = MakePlan(policy, Facts());
  EXPECT_TRUE(plan) << plan.error().what;
  return plan ? *std::move(plan) : Plan{};
}

Error ErrorOf(const Policy& policy) {
  const auto plan = MakePlan(policy, Facts());
  EXPECT_FALSE(plan);
  return plan ? Error{} : plan.error();
}

/// The steps of the environment's own entries, without what every plan begins and ends with.
std::vector<Step> Middle(const Plan& plan) {
  EXPECT_GE(plan.environment.size(), 7U);
  return {plan.environment.begin() + 4, plan.environment.end() - 3};
}

/// The steps of what each sandbox gets of its own: between the frozen /proc/sys and the network.
std::vector<Step> FreshMiddle(const Plan& plan) {
  const auto begin = std::ranges::find(plan.fresh, Step{step::ReadOnly{"/proc/sys"}});
  return {begin + 1, std::ranges::find(plan.fresh, Step{step::BoundPrivileges{}})};
}

/// The steps of the run's own entries: all but the last two, which every run ends with.
std::vector<Step> RunMiddle(const Plan& plan) {
  EXPECT_GE(plan.run.size(), 2U);
  return {plan.run.begin(), plan.run.end() - 2};
}

step::Bind BindOf(std::string source, std::string target, PathFact fact = kDirectory) {
  return {.source = std::move(source), .target = std::move(target), .fact = fact};
}

TEST(MakePlanTest, AnEmptyPolicyIsTheWholeWallAndNothingElse) {
  const Plan plan = PlanOf(PolicyWith({}));
  EXPECT_THAT(plan.environment,
              ElementsAre(step::Root{{.bytes = 8U << 20, .inodes = 65536}},
                          step::Directory{"/.igloo"}, step::Directory{"/.igloo/empty", 0555},
                          step::File{"/.igloo/nothing", "", 0444}, step::Directory{"/proc"},
                          step::Proc{"/proc"}, step::EnterRoot{}, step::SealRoot{}));
  EXPECT_THAT(plan.fresh,
              ElementsAre(step::Hostname{"igloo"}, step::Proc{"/proc"}, step::NoMoreNamespaces{},
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

TEST(MakePlanTest, AnOverlayGetsItsWorkshop) {
  const Plan plan = PlanOf(PolicyWith(
      {}, {OverlayTree{.source = "/host/dir", .target = "/project", .capacity = {.bytes = 5}}}));
  EXPECT_THAT(Middle(plan),
              ElementsAre(step::Directory{"/proc"}, step::Directory{"/.igloo/lower"},
                          step::Directory{"/.igloo/upper"}, step::Directory{"/project"}));
  EXPECT_THAT(RunMiddle(plan),
              ElementsAre(step::Overlay{"/host/dir", "/project", {.bytes = 5}, kDirectory}));
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

TEST(MakePlanTest, TheRunsMountPointsAreMadeBeforeTheSharedRootIsSealed) {
  const Plan plan = PlanOf(PolicyWith(
      {}, {MemoryTree{.target = "/a/mem"}, HostTree{.source = "/host/file", .target = "/file"}}));
  EXPECT_THAT(Middle(plan), ElementsAre(step::Directory{"/proc"}, step::File{"/file", "", 0444},
                                        step::Directory{"/a"}, step::Directory{"/a/mem"}));
  EXPECT_THAT(FreshMiddle(plan), ElementsAre(step::Tmpfs{"/a/mem"}));
  EXPECT_THAT(RunMiddle(plan), ElementsAre(BindOf("/host/file", "/file", kRegular)));
}

TEST(MakePlanTest, MemoryOfASandboxIsMountedAheadOfItsRun) {
  const MemoryTree own{.target = "/own"};
  const Plan shared = PlanOf(PolicyWith({own}));
  EXPECT_THAT(Middle(shared),
              ElementsAre(step::Directory{"/own"}, step::Tmpfs{"/own"}, step::Directory{"/proc"}));
  EXPECT_THAT(FreshMiddle(shared), ElementsAre());
  EXPECT_THAT(RunMiddle(shared), ElementsAre());

  const Plan fresh = PlanOf(PolicyWith({}, {own, MemoryTree{.target = "/own/deeper"}}));
  EXPECT_THAT(Middle(fresh), ElementsAre(step::Directory{"/proc"}, step::Directory{"/own"}));
  EXPECT_THAT(FreshMiddle(fresh), ElementsAre(step::Tmpfs{"/own"}, step::Directory{"/own/deeper"},
                                              step::Tmpfs{"/own/deeper"}))
      << "names in it that every run needs are made ahead, too";
  EXPECT_THAT(RunMiddle(fresh), ElementsAre());
}

TEST(MakePlanTest, MemoryInAPlaceOfTheRunWaitsForTheRun) {
  const Plan in_tree = PlanOf(PolicyWith(
      {}, {HostTree{.source = "/host/dir", .target = "/project"},
           MemoryTree{.target = "/project/cache"}, MemoryTree{.target = "/project/cache/deeper"}}));
  EXPECT_THAT(FreshMiddle(in_tree), ElementsAre());
  EXPECT_THAT(
      RunMiddle(in_tree),
      ElementsAre(BindOf("/host/dir", "/project"), step::Tmpfs{"/project/cache"},
                  step::Directory{"/project/cache/deeper"}, step::Tmpfs{"/project/cache/deeper"}));

  const Plan in_directory =
      PlanOf(PolicyWith({}, {MemoryTree{.target = "/own"}, EmptyDirectory{.path = "/own/a"},
                             MemoryTree{.target = "/own/a/b"}, MemoryTree{.target = "/own/c"}}));
  EXPECT_THAT(FreshMiddle(in_directory),
              ElementsAre(step::Tmpfs{"/own"}, step::Directory{"/own/c"}, step::Tmpfs{"/own/c"}));
  EXPECT_THAT(
      RunMiddle(in_directory),
      ElementsAre(step::Directory{"/own/a"}, step::Directory{"/own/a/b"}, step::Tmpfs{"/own/a/b"}))
      << "what a run has yet to make cannot be mounted on ahead of it";
}

TEST(MakePlanTest, AReadOnlyMemoryTreeIsFrozenBehindItsFilesAndIsNothingToWriteTo) {
  Policy policy = PolicyWith(
      {}, {MemoryTree{.target = "/code", .access = Access::kReadOnly}, MemoryTree{.target = "/own"},
           TextFile{.path = "/code/main", .content = "x"}});
  policy.listen = {80};
  const Plan plan = PlanOf(policy);
  EXPECT_THAT(FreshMiddle(plan), ElementsAre(step::Tmpfs{"/code"}, step::Tmpfs{"/own"}));
  EXPECT_THAT(plan.run, ElementsAre(step::File{"/code/main", "x", 0444}, step::ReadOnly{"/code"},
                                    step::Listen{80}, step::DropPrivileges{}, step::StartInit{}));
  EXPECT_THAT(plan.payload.paths, ElementsAre(PathRule{PathRight::kRead, "/"},
                                              PathRule{PathRight::kReadWrite, "/own"}));
}

TEST(MakePlanTest, InItsOwnMountsTheRunMakesNamesItself) {
  const Plan plan = PlanOf(
      PolicyWith({}, {MemoryTree{.target = "/mem"}, TextFile{.path = "/mem/a/code", .content = "x"},
                      HostTree{.source = "/host/dir", .target = "/mem/b/dir"},
                      HostTree{.source = "/host/file", .target = "/mem/file"}}));
  EXPECT_THAT(Middle(plan), ElementsAre(step::Directory{"/proc"}, step::Directory{"/mem"}));
  EXPECT_THAT(FreshMiddle(plan), ElementsAre(step::Tmpfs{"/mem"}));
  EXPECT_THAT(RunMiddle(plan),
              ElementsAre(step::File{"/mem/file", "", 0444},
                          BindOf("/host/file", "/mem/file", kRegular), step::Directory{"/mem/a"},
                          step::File{"/mem/a/code", "x", 0444}, step::Directory{"/mem/b"},
                          step::Directory{"/mem/b/dir"}, BindOf("/host/dir", "/mem/b/dir")));
}

TEST(MakePlanTest, TheRunMayNotMakeNamesInTheSharedRoot) {
  for (const Entry& entry : {Entry(TextFile{.path = "/etc/code"}), Entry(Link{"/etc/l", "x"}),
                             Entry(EmptyDirectory{.path = "/etc/d"})}) {
    EXPECT_EQ(ErrorOf(PolicyWith({}, {entry})).code, Errc::kInvalidArgument);
    EXPECT_EQ(ErrorOf(PolicyWith({MemoryTree{.target = "/etc"}}, {entry})).code,
              Errc::kInvalidArgument)
        << "memory of the environment is shared, too";
  }
}

TEST(MakePlanTest, NothingLiesBelowAFileOrALink) {
  const Entry leaves[] = {Link{"/a", "/etc"}, TextFile{.path = "/a"},
                          HostTree{.source = "/host/file", .target = "/a"}};
  const Entry below[] = {TextFile{.path = "/a/x"}, Link{"/a/x/y", "z"},
                         EmptyDirectory{.path = "/a/x"},
                         MemoryTree{.target = "/a/x", .covering = Covering::kIntended},
                         HostTree{.source = "/host/dir", .target = "/a/x/y"}};
  for (const Entry& leaf : leaves) {
    for (const Entry& entry : below) {
      for (const Policy& policy :
           {PolicyWith({leaf, entry}), PolicyWith({entry, leaf}), PolicyWith({leaf}, {entry})}) {
        const Error error = ErrorOf(policy);
        EXPECT_EQ(error.code, Errc::kInvalidArgument);
        EXPECT_THAT(error.what, HasSubstr("would lie below '/a', which is a "));
      }
    }
  }
  EXPECT_THAT(ErrorOf(PolicyWith({Link{"/dev", "/tmp"}, DeviceNode{"null"}})).what,
              HasSubstr("'/dev/null' would lie below '/dev', which is a link"));
  EXPECT_THAT(ErrorOf(PolicyWith({DeviceNode{"null"}, TextFile{.path = "/dev/null/x"}})).what,
              HasSubstr("would lie below '/dev/null', which is a file"));
  const Entry memory = MemoryTree{.target = "/m"};
  EXPECT_THAT(
      ErrorOf(PolicyWith({}, {memory, Link{"/m/a", "/etc"}, TextFile{.path = "/m/a/x"}})).what,
      HasSubstr("'/m/a/x' would lie below '/m/a'"));
  EXPECT_TRUE(MakePlan(
      PolicyWith({HostTree{.source = "/host/gone", .target = "/a", .presence = Presence::kOptional},
                  TextFile{.path = "/a/x"}}),
      Facts()))
      << "what is absent is no file";
}

TEST(MakePlanTest, IgloosOwnPlacesAreNobodyElses) {
  for (const std::string path : {"/proc", "/proc/x", "/.igloo", "/.igloo/lower", "/.igloo/a/b"}) {
    const Entry entries[] = {
        HostTree{.source = "/host/dir", .target = path, .covering = Covering::kIntended},
        OverlayTree{.source = "/host/dir", .target = path, .covering = Covering::kIntended},
        MemoryTree{.target = path, .covering = Covering::kIntended},
        MemoryTree{.target = path},
        Link{path, "x"},
        TextFile{.path = path},
        EmptyDirectory{.path = path}};
    for (const Entry& entry : entries) {
      for (const Policy& policy : {PolicyWith({entry}), PolicyWith({}, {entry})}) {
        const Error error = ErrorOf(policy);
        EXPECT_EQ(error.code, Errc::kInvalidArgument) << path;
        EXPECT_THAT(error.what, HasSubstr("which igloo makes itself"));
      }
    }
  }
  EXPECT_TRUE(
      MakePlan(PolicyWith({TextFile{.path = "/process"}, TextFile{.path = "/.igloo2"}}), Facts()))
      << "names that only look alike";
}

TEST(MakePlanTest, WhatACoveringMountHidesIsMadeAnew) {
  const Plan plan = PlanOf(PolicyWith(
      {TextFile{.path = "/a/b/f"}, HostTree{.source = "/host/other", .target = "/a/c"}},
      {MemoryTree{.target = "/a", .covering = Covering::kIntended},
       HostTree{.source = "/host/dir", .target = "/a/b/d"}, TextFile{.path = "/a/c/g"}}));
  EXPECT_THAT(FreshMiddle(plan), ElementsAre(step::Tmpfs{"/a"}));
  EXPECT_THAT(RunMiddle(plan), ElementsAre(step::Directory{"/a/b"}, step::Directory{"/a/b/d"},
                                           BindOf("/host/dir", "/a/b/d"), step::Directory{"/a/c"},
                                           step::File{"/a/c/g", "", 0444}))
      << "the tree of the host that was at /a/c cannot be seen any more";
}

TEST(MakePlanTest, WhatIsCoveredKeepsNoRights) {
  const Plan plan = PlanOf(
      PolicyWith({HostTree{.source = "/host/dir", .target = "/a/rw", .access = Access::kReadWrite},
                  MemoryTree{.target = "/a/ro", .access = Access::kReadOnly}, DeviceNode{"null"}},
                 {HostTree{.source = "/host/dir", .target = "/a", .covering = Covering::kIntended},
                  MemoryTree{.target = "/dev", .covering = Covering::kIntended}}));
  EXPECT_THAT(plan.payload.paths, ElementsAre(PathRule{PathRight::kRead, "/"},
                                              PathRule{PathRight::kReadWrite, "/dev"}));
  EXPECT_THAT(RunMiddle(plan), ElementsAre(BindOf("/host/dir", "/a")))
      << "and nothing is frozen in what covers it";
}

TEST(MakePlanTest, AnAbsentMountCoversNothing) {
  const Plan plan = PlanOf(
      PolicyWith({MemoryTree{.target = "/a/b"}}, {HostTree{.source = "/host/gone",
                                                           .target = "/a",
                                                           .presence = Presence::kOptional,
                                                           .covering = Covering::kIntended}}));
  EXPECT_THAT(plan.payload.paths, ElementsAre(PathRule{PathRight::kRead, "/"},
                                              PathRule{PathRight::kReadWrite, "/a/b"}));
}

TEST(MakePlanTest, OnlyLikeCoversLike) {
  const auto covered = [](Entry earlier, const char* source) {
    return ErrorOf(PolicyWith({std::move(earlier)}, {HostTree{.source = source,
                                                              .target = "/a",
                                                              .covering = Covering::kIntended}}))
        .what;
  };
  EXPECT_EQ(covered(TextFile{.path = "/a"}, "/host/dir"),
            "'/a' is a file, which a directory cannot cover");
  EXPECT_EQ(covered(TextFile{.path = "/a/b"}, "/host/file"),
            "'/a' is a directory, which a file cannot cover");
  EXPECT_EQ(covered(Link{"/a", "b"}, "/host/file"), "'/a' is a link, which a file cannot cover");
  EXPECT_THAT(
      RunMiddle(PlanOf(PolicyWith(
          {TextFile{.path = "/a"}},
          {HostTree{.source = "/host/file", .target = "/a", .covering = Covering::kIntended}}))),
      ElementsAre(BindOf("/host/file", "/a", kRegular)));
}

TEST(MakePlanTest, NothingIsCreatedInATreeOfTheHost) {
  const HostTree tree{.source = "/host/dir", .target = "/usr", .access = Access::kReadWrite};
  for (const Entry& entry : {Entry(TextFile{.path = "/usr/a/b"}), Entry(Link{"/usr/l", "x"}),
                             Entry(EmptyDirectory{.path = "/usr/d"})}) {
    EXPECT_EQ(ErrorOf(PolicyWith({tree, entry})).code, Errc::kInvalidArgument);
    EXPECT_EQ(ErrorOf(PolicyWith({tree}, {entry})).code, Errc::kInvalidArgument);
    EXPECT_EQ(ErrorOf(PolicyWith({}, {tree, entry})).code, Errc::kInvalidArgument);
  }
  const Plan plan =
      PlanOf(PolicyWith({tree, HostTree{.source = "/host/other", .target = "/usr/x/y"}}));
  EXPECT_THAT(Middle(plan),
              ElementsAre(step::Directory{"/usr"},
                          Step(step::Bind{"/host/dir", "/usr", Access::kReadWrite, kDirectory}),
                          BindOf("/host/other", "/usr/x/y"), step::Directory{"/proc"}))
      << "a mount point in it must be there already";
}

TEST(MakePlanTest, AMountInATreeOfTheHostIsNotMadeAgainByWhatItHolds) {
  const Plan plan =
      PlanOf(PolicyWith({}, {HostTree{.source = "/host/dir", .target = "/project"},
                             MemoryTree{.target = "/project/cache"},
                             TextFile{.path = "/project/cache/file", .content = "x"}}));
  EXPECT_THAT(RunMiddle(plan),
              ElementsAre(BindOf("/host/dir", "/project"), step::Tmpfs{"/project/cache"},
                          step::File{"/project/cache/file", "x", 0444}));
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
  const Plan plan = PlanOf(policy);
  EXPECT_EQ(plan.fresh.back(), Step{step::PrivateNetwork{}});
  EXPECT_THAT(plan.run, ElementsAre(step::Listen{80}, step::Listen{8080}, step::DropPrivileges{},
                                    step::StartInit{}));
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
                         .limits = {{"core", RLIMIT_CORE, 1},
                                    {"memlock", RLIMIT_MEMLOCK, 65536},
                                    {"msgqueue", RLIMIT_MSGQUEUE, 65536},
                                    {"rtprio", RLIMIT_RTPRIO, 0},
                                    {"data", RLIMIT_DATA, 3},
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

}  // namespace
}  // namespace igloo::sandbox
