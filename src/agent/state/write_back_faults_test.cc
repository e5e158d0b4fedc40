// What may happen to igloo while it writes back, at every step.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <boost/json.hpp>

#include "agent/state/testing.h"
#include "agent/state/write_back.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kSmall = "size=64k,mode=0700";
constexpr const char* kLarge = "size=64m,mode=0700";
constexpr std::string_view kBefore = R"({"numStartups": 1, "theme": "dark"})";
constexpr std::string_view kAfter = R"({"numStartups": 2, "theme": "dark"})";

class WriteBackFaults : public StateTest {
 protected:
  BoxOrder Order() const { return {.box = "one", .agent = "claude", .home = home_, .started = 17}; }
  /// A box from its beginning to its end; `wrote_` says that its agent has written.
  void Whole(const StateStore& store, const BoxOrder& order) const {
    auto state = BoxState::Begin(store, order);
    if (!state) return;
    std::ofstream(state->home() + "/.claude.json")
        << R"({"numStartups": 2, "theme": "dark", "mcpServers": {}})";
    std::ofstream(state->home() + "/.claude/.credentials.json") << R"({"t": {"a": 2}})";
    std::ofstream{wrote_}.put('x');
    (void)state->Sync();
    (void)state->Finish();
  }
  void SetUp() override {
    StateTest::SetUp();
    wrote_ = temp_->path() + "/wrote";
  }
  std::string wrote_;
};

TEST_F(WriteBackFaults, KilledAtAnyStepNothingIsLostTornOrTwice) {
  int steps = 0;
  bool finished_later = false;
  for (bool killed = true; killed; ++steps) {
    SCOPED_TRACE("killed before step " + std::to_string(steps));
    fs::remove_all(store_.directory);
    fs::remove(wrote_);
    Write(".claude.json", std::string(kBefore));
    Write(".claude/.credentials.json", R"({"t": {"a": 1}})");
    killed = KilledAtStep(store_, steps, [&](const StateStore& store) { Whole(store, Order()); });
    EXPECT_THAT(Read(".claude.json"), AnyOf(kBefore, kAfter)) << "never half of it";
    const auto all = FinishInterrupted(store_);
    ASSERT_TRUE(all) << all.error().what;
    for (const WriteBack& one : *all) EXPECT_THAT(one.problems, IsEmpty());
    finished_later = finished_later || !all->empty();
    const bool wrote = fs::exists(wrote_);
    EXPECT_EQ(Read(".claude.json"), wrote ? kAfter : kBefore);
    EXPECT_EQ(Read(".claude/.credentials.json"),
              wrote ? R"({"t": {"a": 2}})" : R"({"t": {"a": 1}})");
    EXPECT_THAT(ListProposals(store_).value(), SizeIs(wrote ? 1 : 0));
    EXPECT_TRUE(fs::is_empty(store_.Boxes()));
    EXPECT_TRUE(fs::is_empty(store_.Making()));
    EXPECT_EQ(std::distance(fs::directory_iterator(home_), {}), 2) << "nothing lies beside";
    EXPECT_EQ(std::distance(fs::directory_iterator(home_ + "/.claude"), {}), 1);
    // Once more is the same.
    const std::string now = Read(".claude.json");
    ASSERT_TRUE(FinishInterrupted(store_));
    EXPECT_EQ(Read(".claude.json"), now);
  }
  EXPECT_GT(steps, 10);
  EXPECT_TRUE(finished_later);
}

TEST_F(WriteBackFaults, KilledWhileItWritesTheFileIsTheOldOne) {
  // Not between two steps, but in the middle of one: the kernel ends the process at a size.
  Write(".claude.json", std::string(kBefore));
  const auto write_large = [&](bool limited) {
    auto state = BoxState::Begin(store_, Order());
    if (!state) ::_exit(1);
    std::ofstream(state->home() + "/.claude.json")
        << R"({"numStartups": 2, "oauthAccount": ")" << std::string(200'000, 'x') << "\"}";
    if (limited) {
      const rlimit limit{64 << 10, 64 << 10};
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    (void)state->Finish();
  };
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_DFL);
    write_large(true);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it has to be killed";
  EXPECT_EQ(Read(".claude.json"), kBefore);
  EXPECT_TRUE(fs::exists(home_ + "/.claude.json.igloo-new")) << "it was in the middle";
  ASSERT_TRUE(FinishInterrupted(store_));
  EXPECT_THAT(Read(".claude.json"), HasSubstr(std::string(200'000, 'x')));
  EXPECT_FALSE(fs::exists(home_ + "/.claude.json.igloo-new"));
}

/// Runs `body` in a child that has mounts of its own, with another disk at `place`.
void OnADisk(const std::string& place, const char* options, const std::function<void()>& body) {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ::_exit(90);
    const auto say = [](const char* file, const std::string& text) {
      const UniqueFd fd(::open(file, O_WRONLY | O_CLOEXEC));
      return WriteAll(fd.get(), text).has_value();
    };
    const std::string one = " " + std::to_string(user) + " 1\n";
    const std::string other = " " + std::to_string(group) + " 1\n";
    if (!say("/proc/self/setgroups", "deny") ||
        !say("/proc/self/uid_map", std::to_string(user) + one) ||
        !say("/proc/self/gid_map", std::to_string(group) + other)) {
      ::_exit(91);
    }
    if (::mount("none", place.c_str(), "tmpfs", 0, options) != 0) ::_exit(92);
    body();
    ::_exit(::testing::Test::HasFailure() ? 93 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(WriteBackFaults, OnAFullDiskTheHostsFileStaysAndTheBoxsVersionIsKept) {
  const std::string text =
      R"({"numStartups": 2, "oauthAccount": ")" + std::string(40'000, 'x') + "\"}";
  OnADisk(home_, kSmall, [&] {
    Write(".claude.json", std::string(kBefore));
    Write("fill", std::string(30'000, 'x'));
    auto state = BoxState::Begin(store_, Order());
    ASSERT_TRUE(state) << state.error().what;
    std::ofstream(state->home() + "/.claude.json") << text;
    const auto done = state->Finish();
    ASSERT_TRUE(done) << done.error().what;
    ASSERT_THAT(done->problems, SizeIs(1));
    EXPECT_EQ(done->problems[0].error.sys_errno, ENOSPC);
    EXPECT_THAT(done->problems[0].error.hint, HasSubstr("kept in '" + state->home()));
    EXPECT_EQ(Read(".claude.json"), kBefore);
    EXPECT_EQ(ReadFile(state->home() + "/.claude.json", 1U << 20), text);
    EXPECT_FALSE(fs::exists(home_ + "/.claude.json.igloo-new"));
    // When there is room again, it is finished. (The box's lock goes with its state.)
    fs::remove(home_ + "/fill");
    {
      const BoxState gone = *std::move(state);
    }
    const auto later = FinishInterrupted(store_);
    ASSERT_TRUE(later);
    EXPECT_THAT(Read(".claude.json"), HasSubstr("\"numStartups\": 2"));
  });
}

TEST_F(WriteBackFaults, WithoutRoomForItsStateNoBoxBegins) {
  fs::create_directories(store_.directory);
  Write(".claude.json", R"({"oauthAccount": ")" + std::string(50'000, 'x') + "\"}");
  OnADisk(store_.directory, kSmall, [&] {
    const auto state = BoxState::Begin(store_, Order());
    ASSERT_FALSE(state);
    EXPECT_EQ(state.error().sys_errno, ENOSPC);
    EXPECT_TRUE(fs::is_empty(store_.Making()));
  });
}

TEST_F(WriteBackFaults, OfTwoProcessesAtOnceAThousandTimesNoChangeIsLost) {
  constexpr int kRounds = 1000;
  const auto writer = [&](const char* key) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    for (int i = 1; i <= kRounds; ++i) {
      auto state = BoxState::Begin(store_, Order());
      if (!state) ::_exit(2);
      const std::string place = state->home() + "/.claude.json";
      json::value value = json::parse(ReadFile(place, 1U << 20).value_or("{}"));
      // Nobody else changes this key: it is what the round before made it.
      if (value.at(key) != i - 1) ::_exit(3);
      value.at(key) = i;
      std::ofstream(place) << json::serialize(value);
      const auto done = state->Finish();
      if (!done || done->written.size() != 1 || !done->problems.empty()) ::_exit(4);
    }
    ::_exit(0);
  };
  // A disk on which a sync costs nothing.
  OnADisk(temp_->path(), kLarge, [&] {
    Write(".claude.json", R"({"firstCount": 0, "secondCount": 0})");
    for (const pid_t child : {writer("firstCount"), writer("secondCount")}) {
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(Read(".claude.json"), R"({"firstCount": 1000, "secondCount": 1000})");
    EXPECT_TRUE(fs::is_empty(store_.Boxes()));
  });
}

}  // namespace
}  // namespace igloo::agent
