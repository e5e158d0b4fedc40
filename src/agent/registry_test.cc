#include "agent/registry.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/file.h"
#include "base/temp_dir.h"

namespace igloo::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using enum BoxRegistry::Name;

class Boxes : public ::testing::Test {
 protected:
  BoxRegistry Open() { return *BoxRegistry::Open(place_); }

  TempDir temp_ = *TempDir::Make(::testing::TempDir());
  std::string place_ = temp_.path() + "/igloo/boxes";
};

TEST_F(Boxes, AreListedWhileTheyLive) {
  const BoxRegistry registry = Open();
  {
    const auto box = registry.Enter({.name = "a", .agent = "claude", .project = "/p"}, kExactly);
    ASSERT_TRUE(box);
    const auto boxes = registry.List();
    ASSERT_THAT(*boxes, SizeIs(1));
    EXPECT_EQ(boxes->front().agent, "claude");
    EXPECT_EQ(boxes->front().process, ::getpid());
  }
  EXPECT_THAT(*registry.List(), IsEmpty());
}

TEST_F(Boxes, HaveNamesOfTheirOwn) {
  const BoxRegistry registry = Open();
  const auto first = registry.Enter({.name = "a"}, kOrNext);
  const auto second = registry.Enter({.name = "a"}, kOrNext);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->name(), "a-2");
  const auto third = registry.Enter({.name = "a"}, kExactly);
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().hint, HasSubstr("igloo agent stop a"));
}

TEST_F(Boxes, OfAKilledIglooAreGoneFromTheList) {
  const BoxRegistry registry = Open();
  auto pipe = MakePipe();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto box = registry.Enter({.name = "a"}, kExactly);
    (void)!::write(pipe->second.get(), box ? "y" : "n", 1);
    for (;;) ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(pipe->first.get(), &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  EXPECT_THAT(*registry.List(), SizeIs(1)) << "control: it is there";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(*registry.List(), IsEmpty());
  EXPECT_TRUE(registry.Enter({.name = "a"}, kExactly));
}

TEST_F(Boxes, EndWhenSomebodyStopsThem) {
  const BoxRegistry registry = Open();
  auto pipe = MakePipe();
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);
    const auto box = registry.Enter({.name = "a"}, kExactly);
    (void)!::write(pipe->second.get(), "y", 1);
    for (;;) ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(pipe->first.get(), &answer, 1), 1);
  const auto box = registry.Find("a");
  ASSERT_TRUE(box);
  EXPECT_TRUE(registry.Stop(*box));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST_F(Boxes, StopTouchesNobodyWhoHasTheNumberOfABoxThatEnded) {
  const BoxRegistry registry = Open();
  EXPECT_TRUE(registry.Stop({.name = "gone", .process = ::getpid()}));  // and this goes on
}

TEST_F(Boxes, AreFoundByNameOrSaidToBeOthers) {
  const BoxRegistry registry = Open();
  const auto box = registry.Enter({.name = "one"}, kExactly);
  const auto missing = registry.Find("two");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().hint, HasSubstr("one"));
}

TEST_F(Boxes, WithABrokenDescriptionStopNobody) {
  const BoxRegistry registry = Open();
  const auto box = registry.Enter({.name = "a"}, kExactly);
  std::ofstream(place_ + "/a.json") << "{\"process\": \"x\"";
  EXPECT_THAT(*registry.List(), IsEmpty());
  EXPECT_FALSE(registry.Find("a"));
}

TEST_F(Boxes, TellWhatChangesWhileTheyRun) {
  const BoxRegistry registry = Open();
  auto box = registry.Enter({.name = "a", .agent = "claude"}, kExactly);
  ASSERT_TRUE(box);
  BoxInfo info = box->info();
  info.paused = true;
  info.hits = {"memory"};
  info.name = "another";
  ASSERT_TRUE(box->Update(info));
  const auto found = registry.Find("a");
  ASSERT_TRUE(found) << "a name stays";
  EXPECT_TRUE(found->paused);
  EXPECT_EQ(found->hits, std::vector<std::string>{"memory"});
  EXPECT_EQ(found->process, ::getpid());
}

TEST_F(Boxes, OfAProjectAreFoundByItsPath) {
  const BoxRegistry registry = Open();
  const auto late = registry.Enter({.name = "a", .project = "/p", .started = 20}, kExactly);
  const auto early = registry.Enter({.name = "b", .project = "/p", .started = 10}, kExactly);
  const auto other = registry.Enter({.name = "c", .project = "/p/q", .started = 5}, kExactly);
  const auto boxes = registry.OfProject("/p");
  ASSERT_THAT(*boxes, SizeIs(2));
  EXPECT_EQ(boxes->front().name, "b") << "the oldest";
}

TEST_F(Boxes, OfManyThatWantToJoinOneStartsTheBoxAndAllOthersFindIt) {
  const BoxRegistry registry = Open();
  constexpr int kMany = 16;
  auto pipe = MakePipe();
  std::vector<pid_t> children;
  for (int i = 0; i < kMany; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    auto found = registry.JoinOrStart("/p", "claude");
    char said = found && found->box ? 'j' : '!';
    std::optional<BoxRegistry::Place> box;
    if (found && found->turn) {
      auto entered = registry.Enter({.name = "a", .agent = "claude", .project = "/p"}, kOrNext);
      if (entered) box.emplace(*std::move(entered));
      said = box && box->name() == "a" ? 's' : '!';
      found->turn.Reset();
    }
    (void)!::write(pipe->second.get(), &said, 1);
    for (;;) ::pause();
  }
  std::string all(kMany, '\0');
  for (char& each : all) ASSERT_EQ(::read(pipe->first.get(), &each, 1), 1);
  EXPECT_EQ(std::ranges::count(all, 's'), 1) << all;
  EXPECT_EQ(std::ranges::count(all, 'j'), kMany - 1) << all;
  const auto of_another = registry.JoinOrStart("/p", "codex");
  EXPECT_TRUE(of_another && !of_another->box) << "an agent joins its like";
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
}

TEST(CheckBoxName, RefusesPathsAndCommands) {
  for (const char* name : {"", "..", ".a", "a/b", "-x", "a b", "list", "stop", "a\n", "attach",
                           "pause", "gc", "a.sock", "a.lock", "a.tmux"}) {
    EXPECT_FALSE(CheckBoxName(name)) << name;
  }
  EXPECT_FALSE(CheckBoxName(std::string(65, 'a')));
  EXPECT_TRUE(CheckBoxName("claude-igloo_2.0"));
}

}  // namespace
}  // namespace igloo::agent
