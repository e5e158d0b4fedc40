// Where a plan makes and mounts things: never in a place of others, never hiding its own by
// accident.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/plan.h"
#include "sandbox/testing.h"

namespace igloo::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;  // NOLINT(google-build-using-namespace)

TEST(PlanPlacesTest, TheRunsMountPointsAreMadeBeforeTheSharedRootIsSealed) {
  const Plan plan = PlanOf(PolicyWith(
      {}, {MemoryTree{.target = "/a/mem"}, HostTree{.source = "/host/file", .target = "/file"}}));
  EXPECT_THAT(Middle(plan), ElementsAre(step::Directory{"/proc"}, step::File{"/file", "", 0444},
                                        step::Directory{"/a"}, step::Directory{"/a/mem"}));
  EXPECT_THAT(FreshMiddle(plan), ElementsAre(step::Tmpfs{"/a/mem"}));
  EXPECT_THAT(RunMiddle(plan), ElementsAre(BindOf("/host/file", "/file", kRegular)));
}

TEST(PlanPlacesTest, MemoryOfASandboxIsMountedAheadOfItsRun) {
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

TEST(PlanPlacesTest, MemoryInAPlaceOfTheRunWaitsForTheRun) {
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

TEST(PlanPlacesTest, AReadOnlyMemoryTreeIsFrozenBehindItsFilesAndIsNothingToWriteTo) {
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

TEST(PlanPlacesTest, InItsOwnMountsTheRunMakesNamesItself) {
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

TEST(PlanPlacesTest, TheRunMayNotMakeNamesInTheSharedRoot) {
  for (const Entry& entry : {Entry(TextFile{.path = "/etc/code"}), Entry(Link{"/etc/l", "x"}),
                             Entry(EmptyDirectory{.path = "/etc/d"})}) {
    EXPECT_EQ(ErrorOf(PolicyWith({}, {entry})).code, Errc::kInvalidArgument);
    EXPECT_EQ(ErrorOf(PolicyWith({MemoryTree{.target = "/etc"}}, {entry})).code,
              Errc::kInvalidArgument)
        << "memory of the environment is shared, too";
  }
}

TEST(PlanPlacesTest, NothingLiesBelowAFileOrALink) {
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

TEST(PlanPlacesTest, IgloosOwnPlacesAreNobodyElses) {
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

TEST(PlanPlacesTest, WhatACoveringMountHidesIsMadeAnew) {
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

TEST(PlanPlacesTest, WhatIsCoveredKeepsNoRights) {
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

TEST(PlanPlacesTest, AnAbsentMountCoversNothing) {
  const Plan plan = PlanOf(
      PolicyWith({MemoryTree{.target = "/a/b"}}, {HostTree{.source = "/host/gone",
                                                           .target = "/a",
                                                           .presence = Presence::kOptional,
                                                           .covering = Covering::kIntended}}));
  EXPECT_THAT(plan.payload.paths, ElementsAre(PathRule{PathRight::kRead, "/"},
                                              PathRule{PathRight::kReadWrite, "/a/b"}));
}

TEST(PlanPlacesTest, OnlyLikeCoversLike) {
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

TEST(PlanPlacesTest, NothingIsCreatedInATreeOfTheHost) {
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

TEST(PlanPlacesTest, AMountInATreeOfTheHostIsNotMadeAgainByWhatItHolds) {
  const Plan plan =
      PlanOf(PolicyWith({}, {HostTree{.source = "/host/dir", .target = "/project"},
                             MemoryTree{.target = "/project/cache"},
                             TextFile{.path = "/project/cache/file", .content = "x"}}));
  EXPECT_THAT(RunMiddle(plan),
              ElementsAre(BindOf("/host/dir", "/project"), step::Tmpfs{"/project/cache"},
                          step::File{"/project/cache/file", "x", 0444}));
}

}  // namespace
}  // namespace igloo::sandbox
