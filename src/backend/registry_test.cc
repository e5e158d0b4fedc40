#include "backend/registry.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>

namespace igloo::backend {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr wall::Wall kPaper = {.name = "paper", .description = "", .served = true};
constexpr wall::Wall kLater = {.name = "paper", .description = ""};
constexpr wall::Wall kRoots = {
    .name = "paper", .description = "", .served = true, .can = {.needs_root = true}};

class PaperSandbox : public Sandbox {
 public:
  int setup_fd() const override { return -1; }
  Result<void> ReadSetup() override { return {}; }
  void Kill() override {}
  Error WhyGone() override { return {}; }
};

class PaperBackend : public Backend {
 public:
  Result<std::unique_ptr<Sandbox>> Start(const sandbox::Plan&, Channels) override {
    return std::make_unique<PaperSandbox>();
  }
};

constexpr Factory kWithPaper[] = {
    {.wall = "paper", .make = [](Options) -> Result<std::unique_ptr<Backend>> {
       return std::make_unique<PaperBackend>();
     }}};

TEST(Registry, HasAMakerForEachWallThatIsServedAndForNoOther) {
  for (const wall::Wall& each : wall::All()) {
    EXPECT_EQ(std::ranges::count(Factories(), each.name, &Factory::wall), each.served ? 1 : 0)
        << each.name;
  }
  for (const Factory& each : Factories()) EXPECT_NE(wall::Find(each.wall), nullptr) << each.wall;
}

TEST(Registry, OnlyAWallWithAWordForItHasACommandToShow) {
  for (const wall::Wall& each : wall::All()) {
    const auto shown = Show(each, sandbox::Plan{}, {.init = "/lib/igloo-init"});
    EXPECT_EQ(shown.has_value(), !each.shown_as.empty()) << each.name;
    if (shown) {
      EXPECT_THAT(*shown, StartsWith(std::string(each.shown_as)));
    }
  }
}

TEST(Registry, WhatARowDoesNotPromiseItsCommandRefuses) {
  using Promise = bool wall::Capabilities::*;
  namespace step = sandbox::step;
  const std::pair<Promise, sandbox::Step> kPromises[] = {
      {&wall::Capabilities::hands_out, step::HandOut{}},
      {&wall::Capabilities::listeners, step::Listen{80}},
      {&wall::Capabilities::device, step::Edge{}},
      {&wall::Capabilities::views, step::Overlay{}},
      {&wall::Capabilities::fine_memory_limits,
       step::Tmpfs{.target = "/tmp", .capacity = {.inodes = 10}}},
  };
  for (const wall::Wall& each : wall::All()) {
    if (each.shown_as.empty()) continue;
    for (const auto& [promise, needed] : kPromises) {
      const sandbox::Plan plan{.run = {needed}};
      EXPECT_EQ(Show(each, plan, {.init = "/lib/igloo-init"}).has_value(), each.can.*promise)
          << each.name << " " << needed.index();
    }
  }
}

TEST(Registry, TheUsualWallIsMadeWithoutStartingAnything) {
  EXPECT_TRUE(Make(wall::kDefault, {.programs = {.jail = "/nowhere", .init = "/nowhere"}}));
}

TEST(Registry, WhatIsNotServedIsRefused) {
  const auto made = Make(*wall::Find("container"), {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().what, HasSubstr("not available yet"));
  EXPECT_FALSE(Make(kLater, {}, kWithPaper)) << "not even where somebody could make it";
  EXPECT_FALSE(Make(kPaper, {})) << "it is in no list of igloo's own";
}

TEST(Registry, AnotherWallIsOneRowAndOneMaker) { EXPECT_TRUE(Make(kPaper, {}, kWithPaper)); }

TEST(Registry, AWallForRootIsRefusedToOthers) {
  EXPECT_EQ(Make(kRoots, {}, kWithPaper).has_value(), ::geteuid() == 0);
}

TEST(Registry, ASandboxThatCannotDoMoreThanRunSaysSo) {
  PaperBackend backend;
  const auto sandbox = backend.Start({}, {}).value();
  EXPECT_FALSE(sandbox->made());
  EXPECT_FALSE(sandbox->WhenEnded());
  EXPECT_TRUE(sandbox->handed_out().empty());
  EXPECT_THAT(sandbox->TakeSockets().error().what, HasSubstr("cannot hand out sockets"));
  EXPECT_THAT(sandbox->TakeEdge().error().what, HasSubstr("cannot give a sandbox a device"));
  EXPECT_THAT(sandbox->EnterCpuGroup(-1).error().what, HasSubstr("cannot limit"));
  EXPECT_THAT(sandbox->InitForCopier().error().what, HasSubstr("cannot copy"));
  EXPECT_TRUE(backend.Warm());
  EXPECT_EQ(backend.expected_ids().kind, HostIds::Kind::kStarters);
}

}  // namespace
}  // namespace igloo::backend
