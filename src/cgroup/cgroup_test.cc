#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "cgroup/groups.h"

namespace igloo::cgroup {
namespace {

namespace fs = std::filesystem;

std::function<std::string()> Own(std::string text) {
  return [text = std::move(text)] { return text; };
}

/// A directory that looks like a cgroup file system; what the kernel does with writes, it does not.
class FakeTree {
 public:
  FakeTree() : directory_(TempDir::Make("/tmp").value()) {}
  const std::string& root() const { return directory_.path(); }
  void Put(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root() + path).parent_path());
    std::ofstream(root() + path) << text;
  }
  /// A directory of version 2 as the kernel fills it.
  void PutV2(const std::string& path, const std::string& processes,
             const std::string& down = "memory pids\n") const {
    Put(path + "/cgroup.controllers", "cpu memory pids\n");
    Put(path + "/cgroup.subtree_control", down);
    Put(path + "/cgroup.procs", processes);
    if (!path.empty()) Put(path + "/cgroup.type", "domain\n");
  }
  std::string Get(const std::string& path) const {
    return ReadFile(root() + path, 4096).value_or("(none)");
  }

 private:
  TempDir directory_;
};

/// The files of a leaf, which the kernel would make with its directory.
void PutLeaf(const FakeTree& tree, const std::string& path) {
  for (const char* file :
       {"tasks", "memory.limit_in_bytes", "pids.max", "memory.max", "memory.oom.group"}) {
    tree.Put(path + "/" + file, "");
  }
  tree.Put(path + "/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  tree.Put(path + "/pids.events", "max 5\n");
}

TEST(CgroupFind, SaysWhyThereIsNone) {
  const FakeTree tree;
  const Found found = Find(tree.root(), Own(""));
  EXPECT_EQ(found.kind, Kind::kNone);
  EXPECT_NE(found.why.find("no cgroups"), std::string::npos);
}

TEST(CgroupFind, VersionOneIsTheTreeOfMemory) {
  const FakeTree tree;
  tree.Put("/pids/tasks", "");
  EXPECT_EQ(Find(tree.root(), Own("")).kind, Kind::kNone);
  tree.Put("/memory/tasks", "");
  const Found found = Find(tree.root(), Own(""));
  EXPECT_EQ(found.kind, Kind::kV1);
  EXPECT_EQ(found.place, tree.root() + "/memory/igloo");
  EXPECT_TRUE(fs::is_directory(found.place));
  EXPECT_EQ(Find(tree.root(), Own("")).place, found.place) << "and again";
}

TEST(CgroupFind, VersionTwoIsTakenWhereNoProcessesAre) {
  const FakeTree tree;
  tree.PutV2("", "1\n2\n");
  tree.PutV2("/user", "");
  tree.PutV2("/user/igloo", "");  // the kernel fills the directory that igloo makes
  tree.PutV2("/user/session", "77\n");
  const Found found = Find(tree.root(), Own("0::/user/session\n"));
  EXPECT_EQ(found.kind, Kind::kV2);
  EXPECT_EQ(found.place, tree.root() + "/user/igloo");
  EXPECT_EQ(tree.Get("/user/session/cgroup.procs"), "77\n") << "nobody was moved";
}

TEST(CgroupFind, VersionTwoAsksForControllersThatAreNotHandedDown) {
  const FakeTree tree;
  tree.PutV2("", "1\n", "cpu\n");
  tree.PutV2("/igloo", "", "");
  const Found found = Find(tree.root(), Own("0::/\n"));
  EXPECT_EQ(found.kind, Kind::kV2);
  EXPECT_EQ(tree.Get("/cgroup.subtree_control").substr(0, 13), "+memory +pids");
}

TEST(CgroupFind, ProcessorsAreLimitedWhereTheirControllerIsThere) {
  const FakeTree tree;
  tree.PutV2("", "1\n");
  tree.PutV2("/igloo", "");
  const Found found = Find(tree.root(), Own("0::/\n"));
  EXPECT_TRUE(found.cpus);
  EXPECT_EQ(WhyNoCpus(found), "");
  EXPECT_EQ(tree.Get("/cgroup.subtree_control"), "memory pids\n") << "nobody needs it yet";
  tree.Put("/cgroup.controllers", "cpuset memory pids\n");
  const Found without = Find(tree.root(), Own("0::/\n"));
  EXPECT_EQ(without.kind, Kind::kV2);
  EXPECT_NE(WhyNoCpus(without).find("Delegate=cpu"), std::string::npos);
  const Found none = Find(tree.root() + "/elsewhere", Own(""));
  EXPECT_EQ(WhyNoCpus(none), none.why) << "without any cgroup";
}

TEST(CgroupFind, VersionOneHasProcessorsInATreeOfTheirOwn) {
  const FakeTree tree;
  tree.Put("/memory/tasks", "");
  const Found without = Find(tree.root(), Own(""));
  EXPECT_FALSE(without.cpus);
  EXPECT_NE(WhyNoCpus(without).find("/cpu'"), std::string::npos);
  tree.Put("/cpu,cpuacct/tasks", "");
  const Found found = Find(tree.root(), Own(""));
  EXPECT_TRUE(found.cpus);
  EXPECT_EQ(found.cpu_place, tree.root() + "/cpu,cpuacct/igloo");
}

TEST(CgroupFind, VersionTwoWithoutAPlaceSaysWhatToDo) {
  const FakeTree tree;
  tree.Put("/cgroup.controllers", "memory pids\n");
  const Found found = Find(tree.root(), Own("0::/elsewhere\n"));
  EXPECT_EQ(found.kind, Kind::kNone);
  EXPECT_NE(found.why.find("systemd-run"), std::string::npos);
  EXPECT_EQ(Find(tree.root(), Own("nonsense")).kind, Kind::kNone);
}

mode_t ModeOf(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST(CgroupFind, TheDirectoryIsClosedToOthersWhateverTheUmask) {
  const FakeTree tree;
  tree.Put("/memory/tasks", "");
  const mode_t before = ::umask(0);
  const Found found = Find(tree.root(), Own(""));
  ::umask(before);
  EXPECT_EQ(ModeOf(found.place), 0700U);
  // One that an earlier version made.
  ASSERT_EQ(::chmod(found.place.c_str(), 0755), 0);
  EXPECT_EQ(Find(tree.root(), Own("")).kind, Kind::kV1);
  EXPECT_EQ(ModeOf(found.place), 0700U);
  // The kernel removes what is in it with the directory; this tree cannot.
  PutLeaf(tree, "/memory/igloo/7");
  ASSERT_TRUE(Leaf::Make(found, 7)->locked());
  EXPECT_FALSE(Leaf::Make(found, 8)) << "without the kernel's files it is none, but it was made";
  EXPECT_EQ(ModeOf(found.place + "/8"), 0700U);
}

TEST(CgroupFind, OneThatOthersCouldFillIsNotUsed) {
  const FakeTree tree;
  tree.PutV2("", "1\n");
  tree.PutV2("/user", "");
  tree.PutV2("/user/igloo", "");
  tree.PutV2("/igloo", "");
  tree.PutV2("/user/session", "77\n");
  ASSERT_EQ(::chmod((tree.root() + "/user/igloo").c_str(), 0777), 0);
  const Found found = Find(tree.root(), Own("0::/user/session\n"));
  EXPECT_EQ(found.place, tree.root() + "/igloo") << "the next one above";
}

TEST(CgroupLeaf, OfVersionOneCountsMemory) {
  const FakeTree tree;
  tree.Put("/memory/tasks", "");
  const Found found = Find(tree.root(), Own(""));
  PutLeaf(tree, "/memory/igloo/7");
  auto leaf = Leaf::Make(found, 7);
  ASSERT_TRUE(leaf) << leaf.error().what;
  EXPECT_TRUE(leaf->locked());
  EXPECT_FALSE(Leaf::Make(found, 7)->locked()) << "somebody has it";
  ASSERT_TRUE(leaf->Limit({.memory_bytes = 1000, .processes = 10}));
  EXPECT_EQ(tree.Get("/memory/igloo/7/memory.limit_in_bytes"), "1000");
  EXPECT_FALSE(leaf->ReadHits().memory) << "what was counted earlier is not this sandbox's";
  tree.Put("/memory/igloo/7/memory.oom_control", "oom_kill_disable 0\noom_kill 4\n");
  EXPECT_TRUE(leaf->ReadHits().memory);
}

TEST(CgroupLeaf, OfVersionOneLimitsProcessorsInTheOtherTree) {
  const FakeTree tree;
  tree.Put("/memory/tasks", "");
  tree.Put("/cpu/tasks", "");
  const Found found = Find(tree.root(), Own(""));
  PutLeaf(tree, "/memory/igloo/7");
  auto leaf = Leaf::Make(found, 7);
  ASSERT_TRUE(leaf) << leaf.error().what;
  ASSERT_TRUE(leaf->Limit({.memory_bytes = 1000}));
  EXPECT_EQ(leaf->cpu_entrance(), -1) << "nobody asked";
  EXPECT_FALSE(fs::exists(tree.root() + "/cpu/igloo/7"));
  for (const char* file : {"cgroup.procs", "cpu.cfs_quota_us", "cpu.cfs_period_us"}) {
    tree.Put(std::string("/cpu/igloo/7/") + file, "");
  }
  ASSERT_TRUE(leaf->Limit({.memory_bytes = 1000, .millicpus = 1500}));
  EXPECT_GE(leaf->cpu_entrance(), 0);
  EXPECT_EQ(tree.Get("/cpu/igloo/7/cpu.cfs_period_us"), "100000");
  EXPECT_EQ(tree.Get("/cpu/igloo/7/cpu.cfs_quota_us"), "150000");
  tree.Put("/cpu/igloo/7/cpu.cfs_quota_us", "");
  ASSERT_TRUE(leaf->Limit({.memory_bytes = 1000})) << "the next sandbox has no such limit";
  EXPECT_EQ(tree.Get("/cpu/igloo/7/cpu.cfs_quota_us"), "-1");
  EXPECT_EQ(leaf->cpu_entrance(), -1);
}

TEST(CgroupLeaf, OfVersionTwoLimitsProcessorsWhereItsTreeDoes) {
  const FakeTree tree;
  tree.PutV2("", "1\n", "cpu memory pids\n");
  tree.PutV2("/igloo", "", "cpu memory pids\n");
  PutLeaf(tree, "/igloo/0");
  tree.Put("/igloo/0/cpu.max", "");
  auto leaf = Leaf::Make(Find(tree.root(), Own("0::/\n")), 0);
  ASSERT_TRUE(leaf) << leaf.error().what;
  ASSERT_TRUE(leaf->Limit({.memory_bytes = 1000, .millicpus = 250}));
  EXPECT_EQ(tree.Get("/igloo/0/cpu.max"), "25000 100000");
  EXPECT_EQ(leaf->cpu_entrance(), -1) << "one entrance leads to all of it";
  tree.Put("/igloo/0/cpu.max", "");
  ASSERT_TRUE(leaf->Limit({.memory_bytes = 1000}));
  EXPECT_EQ(tree.Get("/igloo/0/cpu.max"), "max 100000");
  // Where its file is missing the controller is handed down first; this tree makes no file then.
  fs::remove(tree.root() + "/igloo/0/cpu.max");
  ASSERT_TRUE(leaf->Limit({.memory_bytes = 2000})) << "no limit needs none";
  EXPECT_EQ(tree.Get("/igloo/cgroup.subtree_control"), "cpu memory pids\n");
  EXPECT_FALSE(leaf->Limit({.memory_bytes = 1000, .millicpus = 250})) << "never kept by nobody";
  EXPECT_TRUE(tree.Get("/igloo/cgroup.subtree_control").starts_with("+cpu"));
  EXPECT_TRUE(tree.Get("/cgroup.subtree_control").starts_with("+cpu"));
}

TEST(CgroupLeaf, OfVersionTwoCountsProcessesToo) {
  const FakeTree tree;
  tree.PutV2("", "1\n");
  tree.PutV2("/igloo", "");
  const Found found = Find(tree.root(), Own("0::/\n"));
  PutLeaf(tree, "/igloo/0");
  tree.Put("/igloo/0/memory.events", "low 0\noom 2\noom_kill 1\n");
  auto leaf = Leaf::Make(found, 0);
  ASSERT_TRUE(leaf) << leaf.error().what;
  ASSERT_TRUE(leaf->Limit({.memory_bytes = 1000, .processes = 10}));
  EXPECT_EQ(tree.Get("/igloo/0/memory.max"), "1000");
  EXPECT_EQ(tree.Get("/igloo/0/pids.max"), "12") << "igloo-init and its helper";
  EXPECT_EQ(tree.Get("/igloo/0/memory.oom.group"), "1");
  // With the same limit otherwise, as of the sandbox before it.
  ASSERT_TRUE(
      leaf->Limit({.memory_bytes = 1000, .processes = 10, .out_of_memory = OutOfMemory::kEndsOne}));
  EXPECT_EQ(tree.Get("/igloo/0/memory.oom.group"), "0");
  EXPECT_FALSE(leaf->ReadHits().memory || leaf->ReadHits().processes);
  tree.Put("/igloo/0/pids.events", "max 6\n");
  EXPECT_TRUE(leaf->ReadHits().processes);
  tree.Put("/igloo/0/memory.events", "low 0\noom 2\noom_kill 9\n");
  EXPECT_TRUE(leaf->ReadHits().memory);
}

TEST(CgroupGroups, GivesEverySandboxItsOwnAndTakesThemBack) {
  const FakeTree tree;
  tree.Put("/memory/tasks", "");
  Groups groups(Find(tree.root(), Own("")));
  for (int i = 0; i < 32; ++i) {
    PutLeaf(tree, "/memory/igloo/" + std::to_string(i));
  }
  const auto inode = [](const Lease& lease) {
    struct stat info{};
    ::fstat(lease.leaf().entrance(), &info);
    return info.st_ino;
  };
  ino_t first = 0;
  {
    auto one = groups.Take({.memory_bytes = 1});
    auto two = groups.Take({.memory_bytes = 1});
    ASSERT_TRUE(one && two);
    EXPECT_NE(inode(*one), inode(*two));
    first = inode(*one);
  }
  auto again = groups.Take({.memory_bytes = 2});
  EXPECT_EQ(inode(*again), first) << "the last one that came back";
}

TEST(CgroupGroups, ALeafThatCannotBeMadeIsAnErrorWithAHint) {
  Groups groups({.kind = Kind::kV1, .place = "/proc/nowhere"});
  const auto lease = groups.Take({});
  ASSERT_FALSE(lease);
  EXPECT_FALSE(lease.error().hint.empty());
}

}  // namespace
}  // namespace igloo::cgroup
