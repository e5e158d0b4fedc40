// What holds for every plan, whatever the policy: checked on many small random policies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/overloaded.h"
#include "sandbox/path.h"
#include "sandbox/plan.h"
#include "sandbox/testing.h"

namespace igloo::sandbox {
namespace {

using ::testing::HasSubstr;
using testing::PolicyWith;

constexpr std::uint32_t kRegular = S_IFREG, kDirectory = S_IFDIR;

HostFacts FactsFor(const Policy& policy) {
  HostFacts facts;
  for (const std::string& source : SourcesOf(policy)) {
    facts[source] = PathFact{
        .device = 1, .inode = facts.size(), .type = source == "/file" ? kRegular : kDirectory};
  }
  return facts;
}

Result<Plan> PlanOf(const Policy& policy) { return MakePlan(policy, FactsFor(policy)); }

/// Plays a plan on a model of a file system and collects what it does wrong.
class Model {
 public:
  explicit Model(Covering covering = Covering::kForbidden) : covering_(covering) {}

  std::vector<std::string> Play(const Plan& plan) {
    for (const Step& step : plan.environment) Do(step, Part::kEnvironment);
    for (const Step& step : plan.fresh) Do(step, Part::kFresh);
    for (const Step& step : plan.run) Do(step, Part::kRun);
    return complaints_;
  }

 private:
  enum class Part { kEnvironment, kFresh, kRun };
  struct Mount {
    bool host;
    Part part;
    bool directory = true;
  };

  void Do(const Step& step, Part part) {
    std::visit(Overloaded{
                   [&](const step::Directory& s) { Create(s.path, part, true); },
                   [&](const step::File& s) { Create(s.path, part, false); },
                   [&](const step::Symlink& s) { Create(s.path, part, false); },
                   [&](const step::Bind& s) {
                     MountAt(s.target, {!s.device, part, s.fact.type == S_IFDIR});
                   },
                   [&](const step::Overlay& s) { MountAt(s.target, {true, part}); },
                   [&](const step::FromBase& s) {
                     MountAt(s.target, {true, part, s.fact.type == S_IFDIR});
                   },
                   [&](const step::Copy& s) { MountAt(s.target, {true, part, false}); },
                   [&](const step::Tmpfs& s) { MountAt(s.target, {false, part}); },
                   [&](const step::ReadOnly& s) { Freeze(s.target); },
                   [](const auto&) {},
               },
               step);
  }

  const Mount* HolderOf(const std::string& path) const {
    const Mount* holder = nullptr;
    for (const auto& [target, mount] : mounts_) {
      if (IsWithin(path, target)) holder = &mount;  // sorted: the longest comes last
    }
    return holder;
  }

  void Create(const std::string& path, Part part, bool directory) {
    const Mount* holder = HolderOf(path);
    if (holder != nullptr && holder->host) Complain("creates in a tree of the host", path);
    if (part != Part::kEnvironment && (holder == nullptr || holder->part == Part::kEnvironment)) {
      Complain("is created in the shared root", path);
    }
    if (IsFrozen(path)) Complain("is created in what is frozen", path);
    if (mounts_.contains(path)) Complain("creates what is mounted", path);
    if (!names_.emplace(path, directory).second) Complain("creates twice", path);
    const std::string parent = path.substr(0, path.rfind('/'));
    if (parent.empty()) return;
    const auto mount = mounts_.find(parent);
    const auto name = names_.find(parent);
    if (mount == mounts_.end() && name == names_.end()) {
      Complain("has no parent", path);
    } else if (!(mount != mounts_.end() ? mount->second.directory : name->second)) {
      Complain("lies below a leaf", path);
    }
  }

  void MountAt(const std::string& target, Mount mount) {
    const Mount* holder = HolderOf(target);
    if ((holder == nullptr || !holder->host) && !names_.contains(target) &&
        !mounts_.contains(target)) {
      Complain("mounts on nothing", target);
    }
    for (const std::string& above : Ancestors(target)) {
      const auto leaf = mounts_.find(above);
      if (leaf != mounts_.end() && !leaf->second.directory) Complain("lies below a leaf", target);
    }
    if (const auto under = mounts_.find(target); under != mounts_.end()) {
      if (covering_ == Covering::kForbidden) Complain("mounts twice", target);
      if (under->second.directory != mount.directory) Complain("covers another kind", target);
    } else if (names_.contains(target) && names_.at(target) != mount.directory) {
      Complain("covers another kind", target);
    }
    Cover(names_, target);
    Cover(mounts_, target);
    mounts_[target] = mount;
  }

  template <class Paths>
  void Cover(Paths& paths, const std::string& target) {
    std::erase_if(paths, [&](const auto& item) {
      if (item.first == target || !IsWithin(item.first, target)) return false;
      if (covering_ == Covering::kForbidden) Complain("hides " + item.first, target);
      return true;
    });
  }

  void Freeze(const std::string& target) {
    if (target != "/proc/sys" && !mounts_.contains(target)) Complain("freezes no mount", target);
    frozen_.insert(target);
  }
  bool IsFrozen(const std::string& path) const {
    return std::ranges::any_of(frozen_, [&](const auto& place) { return IsWithin(path, place); });
  }

  void Complain(const std::string& what, const std::string& path) {
    complaints_.push_back(path + " " + what);
  }

  Covering covering_;
  std::map<std::string, bool> names_ = {};  ///< and whether they are directories
  std::set<std::string> frozen_ = {};
  std::map<std::string, Mount> mounts_ = {};
  std::vector<std::string> complaints_ = {};
};

class Generator {
 public:
  explicit Generator(unsigned seed, Covering covering = Covering::kForbidden)
      : random_(seed), covering_(covering) {}

  /// Everything at few names, so that it meets often. Overlays are of runs only.
  Policy Next() {
    std::vector<Entry> environment(Below(6));
    for (Entry& entry : environment) {
      do {
        entry = NextEntry();
      } while (std::holds_alternative<OverlayTree>(entry));
    }
    std::vector<Entry> run(Below(6));
    for (Entry& entry : run) entry = NextEntry();
    return PolicyWith(std::move(environment), std::move(run));
  }

 private:
  unsigned Below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  std::string Path() {
    std::string path;
    for (unsigned depth = 1 + Below(3); depth > 0; --depth)
      path += "/" + std::string(1, 'a' + static_cast<char>(Below(3)));
    return path;
  }
  std::string LeafPath() { return Path() + (Below(2) == 0 ? "/leaf" : ""); }
  Entry NextEntry() {
    switch (Below(9)) {
      case 0:
        return TextFile{.path = LeafPath()};
      case 1:
        return Link{LeafPath(), "x"};
      case 2:
        return EmptyDirectory{.path = Path()};
      case 3:
        return OverlayTree{.source = "/source", .target = Path(), .covering = covering_};
      case 4:
        return HostTree{.source = "/source", .target = Path(), .covering = covering_};
      case 5:
        return HostTree{.source = "/file", .target = LeafPath(), .covering = covering_};
      case 6:
        return MemoryTree{.target = Path(), .access = Access::kReadOnly, .covering = covering_};
      default:
        return MemoryTree{.target = Path(), .covering = covering_};
    }
  }

  std::mt19937 random_;
  Covering covering_;
};

TEST(PlanPropertyTest, NoPlanHidesItsOwnStepsOrCreatesInForeignPlaces) {
  Generator generator(1);
  int made = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto plan = PlanOf(generator.Next());
    if (!plan) continue;
    ++made;
    EXPECT_EQ(Model().Play(*plan), std::vector<std::string>{}) << "policy " << i << "\n"
                                                               << Describe(*plan);
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(made, 500) << "the generator must not make only impossible policies";
}

TEST(PlanPropertyTest, WhatCoversOnPurposeStillFindsItsPlaceAndKeepsToIt) {
  Generator generator(4, Covering::kIntended);
  int made = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto plan = PlanOf(generator.Next());
    if (!plan) continue;
    ++made;
    EXPECT_EQ(Model(Covering::kIntended).Play(*plan), std::vector<std::string>{})
        << "policy " << i << "\n"
        << Describe(*plan);
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(made, 500) << "the generator must not make only impossible policies";
}

TEST(PlanPropertyTest, TheSamePolicyGivesTheSameBytes) {
  Generator generator(2);
  for (int i = 0; i < 500; ++i) {
    const Policy policy = generator.Next();
    const auto first = PlanOf(policy);
    const auto second = PlanOf(policy);
    ASSERT_EQ(first.has_value(), second.has_value());
    if (!first) {
      EXPECT_EQ(first.error(), second.error());
      continue;
    }
    EXPECT_EQ(first->environment, second->environment);
    EXPECT_EQ(first->fresh, second->fresh);
    EXPECT_EQ(first->run, second->run);
    EXPECT_EQ(first->payload, second->payload);
    EXPECT_EQ(Encode(first->environment), Encode(second->environment));
    EXPECT_EQ(Encode(first->fresh), Encode(second->fresh));
    EXPECT_EQ(Encode(first->run), Encode(second->run));
    EXPECT_EQ(Describe(*first), Describe(*second));
    EXPECT_EQ(ToJson(*first), ToJson(*second));
  }
}

TEST(PlanPropertyTest, ParentsPrecedeChildrenInWhateverOrderTheyAreWritten) {
  std::vector<Entry> entries = {
      MemoryTree{.target = "/a"},
      MemoryTree{.target = "/a/b"},
      HostTree{.source = "/s", .target = "/a/b/c"},
      TextFile{.path = "/a/b/file"},
      EmptyDirectory{.path = "/a/d/e"},
      MemoryTree{.target = "/a/d/e/f"},
  };
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    std::ranges::shuffle(entries, random);
    for (const Policy& policy : {PolicyWith(entries), PolicyWith({}, entries)}) {
      const auto plan = PlanOf(policy);
      ASSERT_TRUE(plan) << plan.error().what;
      EXPECT_EQ(Model().Play(*plan), std::vector<std::string>{}) << Describe(*plan);
    }
  }
}

struct Hiding {
  const char* name;
  Entry earlier;
  Entry later;
};

std::vector<Hiding> Hidings() {
  return {
      {"SamePlace", MemoryTree{.target = "/a"}, MemoryTree{.target = "/a"}},
      {"AFile", TextFile{.path = "/a/f"}, HostTree{.source = "/s", .target = "/a"}},
      {"AMountFurtherDown", MemoryTree{.target = "/a/b/c"}, MemoryTree{.target = "/a"}},
      {"ADevice", DeviceNode{"null"}, MemoryTree{.target = "/dev"}},
      {"ByAnOverlay", EmptyDirectory{.path = "/a/b"}, OverlayTree{.source = "/s", .target = "/a"}},
  };
}

HostFacts HidingFacts() {
  return {{"/s", PathFact{.type = S_IFDIR}}, {"/dev/null", PathFact{.type = S_IFCHR}}};
}

TEST(PlanPropertyTest, TheRunMayNotHideTheEnvironment) {
  for (const Hiding& row : Hidings()) {
    const auto plan = MakePlan(PolicyWith({row.earlier}, {row.later}), HidingFacts());
    ASSERT_FALSE(plan) << row.name;
    EXPECT_EQ(plan.error().code, Errc::kInvalidArgument) << row.name;
    EXPECT_THAT(plan.error().what, HasSubstr("would hide")) << row.name;
  }
}

TEST(PlanPropertyTest, IntendedCoveringIsAllowed) {
  for (const Hiding& row : Hidings()) {
    Entry later = row.later;
    std::visit(Overloaded{
                   [](HostTree& e) { e.covering = Covering::kIntended; },
                   [](OverlayTree& e) { e.covering = Covering::kIntended; },
                   [](MemoryTree& e) { e.covering = Covering::kIntended; },
                   [](auto&) {},
               },
               later);
    EXPECT_TRUE(MakePlan(PolicyWith({row.earlier}, {later}), HidingFacts())) << row.name;
  }
}

TEST(PlanPropertyTest, NamesThatOnlyLookAlikeAreNotHidden) {
  EXPECT_TRUE(PlanOf(PolicyWith({TextFile{.path = "/ab"}, TextFile{.path = "/a-b/c"}},
                                {MemoryTree{.target = "/a"}})));
}

TEST(PlanPropertyTest, OneNameCannotBeMadeTwice) {
  const Entry entries[] = {TextFile{.path = "/a"}, Link{"/a", "b"}, EmptyDirectory{.path = "/a"},
                           MemoryTree{.target = "/a"}, HostTree{.source = "/s", .target = "/a"}};
  for (const Entry& first : entries) {
    for (const Entry& second : entries) {
      EXPECT_FALSE(MakePlan(PolicyWith({first, second}), HidingFacts()));
    }
  }
}

TEST(PlanPropertyTest, OddTargetsAreRefusedForEveryKindOfEntry) {
  using namespace std::string_literals;
  for (const std::string& path :
       {"/a/../b"s, "/a/."s, "/a//b"s, "/a/"s, "/"s, "a"s, ""s, "/a\0"s}) {
    const Entry entries[] = {
        HostTree{.source = "/s", .target = path},
        OverlayTree{.source = "/s", .target = path},
        MemoryTree{.target = path},
        Link{path, "x"},
        TextFile{.path = path},
        NamedPipe{.path = path},
        EmptyDirectory{.path = path},
        HostNode("/s", path, "it is needed"),
    };
    static_assert(std::variant_size_v<Entry> == std::size(entries) + 1, "all but DeviceNode");
    for (const Entry& entry : entries) {
      for (const Policy& policy : {PolicyWith({entry}), PolicyWith({}, {entry})}) {
        const auto plan = MakePlan(policy, HidingFacts());
        ASSERT_FALSE(plan) << path;
        EXPECT_EQ(plan.error().code, Errc::kInvalidArgument) << path;
      }
    }
  }
}

TEST(PlanPropertyTest, LinksMustPointSomewhere) {
  using namespace std::string_literals;
  for (const std::string& points_to : {""s, "a\0b"s}) {
    EXPECT_FALSE(PlanOf(PolicyWith({Link{"/l", points_to}})));
  }
}

TEST(PlanPropertyTest, StepsGrowWithTheEntriesAndNotFaster) {
  constexpr std::size_t kTrees = 5000;
  std::vector<Entry> trees;
  for (std::size_t i = 0; i < kTrees; ++i) {
    const std::string path = "/nix/store/" + std::to_string(i);
    trees.emplace_back(HostTree{.source = path, .target = path});
  }
  const auto empty = PlanOf(PolicyWith({}));
  const auto in_environment = PlanOf(PolicyWith(trees));
  const auto in_run = PlanOf(PolicyWith({}, trees));
  ASSERT_TRUE(empty && in_environment && in_run);
  // /nix and /nix/store once, and a mount point and a mount for each tree.
  EXPECT_EQ(in_environment->environment.size(), empty->environment.size() + 2 + 2 * kTrees);
  EXPECT_EQ(in_environment->fresh.size(), empty->fresh.size());
  EXPECT_EQ(in_environment->run.size(), empty->run.size());
  EXPECT_EQ(in_run->environment.size(), empty->environment.size() + 2 + kTrees);
  EXPECT_EQ(in_run->fresh.size(), empty->fresh.size());
  EXPECT_EQ(in_run->run.size(), empty->run.size() + kTrees);
}

}  // namespace
}  // namespace igloo::sandbox
