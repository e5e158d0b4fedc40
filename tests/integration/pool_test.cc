// Interpreters that wait: as many as use asks for, never more than allowed, and none in the end.

#include "session/warm/pool.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "language/driver.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/interpreters.h"
#include "support/programs.h"
#include "support/sandbox.h"

namespace igloo::testing {
namespace {

namespace asio = boost::asio;
using session::Pool;
using ::testing::HasSubstr;
using Open = std::unique_ptr<session::OpenInterpreter>;

std::vector<pid_t> Pythons() {
  std::vector<pid_t> found;
  for (const ProcessInfo& each : DescendantsOf(::getpid())) {
    if (each.name.starts_with("python") && each.state != 'Z') found.push_back(each.pid);
  }
  return found;
}

class PoolTest : public ::testing::Test {
 protected:
  PoolTest()
      : groups_(cgroup::Find()),
        backend_(BuiltPrograms(), backend::jail::Mode::kPrepared),
        pool_(*loop_, backend_, groups_,
              {.roomy = [this] { return roomy_; },
               .note = [this](std::string_view text) { notes_.emplace_back(text); },
               .copier = BuiltPrograms().copier,
               .shrink_after = std::chrono::hours(1)}) {
    ::signal(SIGPIPE, SIG_IGN);
    recipe_.plan = PlanForInterpreter("python");
    recipe_.checkpoint = true;
    recipe_.most = 3;
  }
  ~PoolTest() override {
    pool_.Close();
    loop_.reset();  // what is still being made there uses all the others
  }

  /// Runs the loop until `done` holds; false when it takes too long.
  bool RunUntil(const std::function<bool()>& done) {
    return WaitFor(
        [&] {
          loop_->restart();
          loop_->run_for(std::chrono::milliseconds(5));
          return done();
        },
        30);
  }
  /// Lets everything happen that is going to: a while without any change.
  void Rest() {
    std::size_t before = 0;
    int same = 0;
    RunUntil([&] {
      same = pool_.waiting() == before ? same + 1 : 0;
      before = pool_.waiting();
      return same == 60;
    });
  }

  Open Take(Pool::Origin origin = Pool::Origin::kFastest) {
    auto taken = pool_.Take(std::make_shared<const session::Recipe>(recipe_), origin);
    EXPECT_TRUE(taken) << taken.error().what;
    return taken ? *std::move(taken) : nullptr;
  }
  /// What code prints in one; its error if there is one.
  std::string Say(session::OpenInterpreter& open, std::string code,
                  session::Manner manner = session::Manner::kEcho) {
    return SayFrom(pool_, open, std::move(code), manner);
  }
  std::string SayFrom(Pool& pool, session::OpenInterpreter& open, std::string code,
                      session::Manner manner = session::Manner::kEcho) {
    std::optional<std::string> said;
    const auto run = [&]() -> asio::awaitable<void> {
      const auto started = co_await pool.Start(open);
      if (!started) {
        said = "error: " + started.error().what;
        co_return;
      }
      session::Interpreter::Call call{.code = std::move(code), .manner = manner};
      const auto result = co_await open.interpreter->Execute(std::move(call));
      said = result ? result->output.kept() + result->error.kept() : result.error().what;
    };
    asio::co_spawn(*loop_, run(), asio::detached);
    RunUntil([&] { return said.has_value(); });
    return said.value_or("nothing");
  }

  bool roomy_ = true;
  std::vector<std::string> notes_ = {};
  session::Recipe recipe_ = {};
  std::unique_ptr<asio::io_context> loop_ = std::make_unique<asio::io_context>(1);
  cgroup::Groups groups_;
  backend::jail::JailBackend backend_;
  Pool pool_;
};

TEST_F(PoolTest, NoneWaitsBeforeTheFirstUse) {
  loop_->run_for(std::chrono::milliseconds(20));
  EXPECT_EQ(pool_.waiting(), 0U);
  EXPECT_TRUE(Pythons().empty());
}

TEST_F(PoolTest, GrowsAfterEachMissAndNeverAboveTheBound) {
  std::vector<Open> used;
  used.push_back(Take());  // a miss
  ASSERT_TRUE(RunUntil([&] { return pool_.waiting() == 1; }));
  Rest();
  EXPECT_EQ(pool_.waiting(), 1U);
  used.push_back(Take());  // that one
  EXPECT_TRUE(used.back()->started);
  used.push_back(Take());  // a miss
  EXPECT_FALSE(used.back()->started);
  ASSERT_TRUE(RunUntil([&] { return pool_.waiting() == 2; }));
  Rest();
  EXPECT_EQ(pool_.waiting(), 2U);
  for (int i = 0; i < 12; ++i) used.push_back(Take());
  std::size_t most = 0;
  ASSERT_TRUE(RunUntil([&] {
    most = std::max(most, pool_.waiting());
    return pool_.waiting() == 3;
  }));
  Rest();
  EXPECT_EQ(pool_.waiting(), 3U);
  EXPECT_LE(most, 3U);
}

TEST_F(PoolTest, EachIsUsedOnce) {
  Take();
  ASSERT_TRUE(RunUntil([&] { return pool_.waiting() == 1; }));
  const Open one = Take();
  Say(*one, "x = 1; open('/workspace/f', 'w').close()");
  ASSERT_TRUE(RunUntil([&] { return pool_.waiting() == 1; }));
  const Open other = Take();
  EXPECT_EQ(Say(*other, "import os; print('x' in globals(), os.listdir('/workspace'))"),
            "False []\n");
}

TEST_F(PoolTest, ProgramsWaitAndAreUsedOnce) {
  const auto recipe = std::make_shared<const session::Recipe>(
      session::Recipe{.plan = PlanForProgram("shell"), .awaits_code = true, .most = 2});
  EXPECT_EQ(pool_.TakeProgram(recipe), nullptr) << "none before the first use";
  ASSERT_TRUE(RunUntil([&] { return pool_.waiting() == 1; }));
  const Open one = pool_.TakeProgram(recipe);
  ASSERT_NE(one, nullptr);
  EXPECT_TRUE(one->program->waits());
  ASSERT_TRUE(RunUntil([&] { return pool_.waiting() == 1; }));
  const Open other = pool_.TakeProgram(recipe);
  ASSERT_NE(other, nullptr);
  EXPECT_NE(one->program, other->program);
}

TEST_F(PoolTest, NothingIsLostThatTheCLibraryHoldsBack) {
  const std::string code = R"py(
import ctypes
c = ctypes.CDLL(None)
c.fopen.restype = ctypes.c_void_p
file = c.fopen(b'/workspace/f', b'w')
c.fputs(b'data', ctypes.c_void_p(file))
c.printf(b'printed ')
)py";
  const Open session = Take(Pool::Origin::kCheckpoint);
  EXPECT_EQ(Say(*session, code), "printed ");
  EXPECT_EQ(Say(*session, "print(open('/workspace/f').read())"), "data\n");
}

TEST_F(PoolTest, WithABoundOfZeroNoneWaits) {
  recipe_.most = 0;
  {
    const Open one = Take();
    EXPECT_EQ(Say(*one, "print(1)"), "1\n");
    Rest();
    EXPECT_EQ(pool_.waiting(), 0U);
    EXPECT_EQ(Pythons().size(), 1U) << "nor one for a checkpoint";
  }
}

TEST_F(PoolTest, WithoutMemoryToSpareNoneWaits) {
  roomy_ = false;
  const Open one = Take();
  Rest();
  EXPECT_EQ(pool_.waiting(), 0U);
  // Nor do those that were there already stay.
  roomy_ = true;
  Take();
  ASSERT_TRUE(RunUntil([&] { return pool_.waiting() > 0; }));
  roomy_ = false;
  pool_.Shrink();
  EXPECT_EQ(pool_.waiting(), 0U);
}

TEST_F(PoolTest, FadesToNothing) {
  for (int i = 0; i < 8; ++i) Take();
  ASSERT_TRUE(RunUntil([&] { return pool_.waiting() == 3; }));
  Rest();
  EXPECT_EQ(Pythons().size(), 3U) << "what the checkpoint was made of has ended";
  pool_.Shrink();  // it was used since the last look
  EXPECT_EQ(pool_.waiting(), 3U);
  pool_.Shrink();
  EXPECT_EQ(pool_.waiting(), 1U);
  pool_.Shrink();
  EXPECT_EQ(pool_.waiting(), 0U);
  EXPECT_TRUE(RunUntil([] { return Pythons().empty(); }));
  // And it begins again.
  const Open one = Take();
  EXPECT_EQ(Say(*one, "print(1)"), "1\n");
  EXPECT_TRUE(RunUntil([&] { return pool_.waiting() == 1; }));
}

TEST_F(PoolTest, FadesByItself) {
  Pool pool(*loop_, backend_, groups_, {.shrink_after = std::chrono::milliseconds(100)});
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(
        pool.Take(std::make_shared<const session::Recipe>(recipe_), Pool::Origin::kFastest));
  }
  EXPECT_TRUE(RunUntil([] { return !Pythons().empty(); }));
  EXPECT_TRUE(RunUntil([&] { return pool.waiting() == 0 && Pythons().empty(); }));
  pool.Close();
}

TEST_F(PoolTest, OneThatWasKilledWhileItWaitedIsNotHandedOut) {
  for (int i = 0; i < 8; ++i) Take();
  ASSERT_TRUE(RunUntil([&] { return pool_.waiting() == 3; }));
  Rest();
  for (const pid_t pid : Pythons()) ::kill(pid, SIGKILL);
  EXPECT_TRUE(RunUntil([] { return Pythons().empty(); }));
  loop_->restart();
  loop_->run_for(std::chrono::milliseconds(50));  // igloo hears of it
  const Open one = Take();
  EXPECT_FALSE(one->started);
  EXPECT_EQ(Say(*one, "print(1)"), "1\n");
  ASSERT_TRUE(RunUntil([&] { return pool_.waiting() == 3; }));
  EXPECT_EQ(Say(*Take(), "print(2)"), "2\n");
}

/// Whatever is wrong with it: nobody who asks has to suffer, and in the end plain ones wait.
TEST_F(PoolTest, WithoutACheckpointThatWorksTheyAreStarted) {
  for (const char* copier : {"/bin/false", "/no/such/program"}) {
    Pool pool(
        *loop_, backend_, groups_,
        {.note = [this](std::string_view text) { notes_.emplace_back(text); }, .copier = copier});
    for (const Pool::Origin origin : {Pool::Origin::kFastest, Pool::Origin::kCheckpoint}) {
      for (int i = 0; i < 4; ++i) {
        const Open one =
            pool.Take(std::make_shared<const session::Recipe>(recipe_), origin).value();
        ASSERT_TRUE(one);
        EXPECT_EQ(SayFrom(pool, *one, "print(1)"), "1\n") << copier;
        Rest();
      }
    }
    EXPECT_GT(pool.waiting(), 0U) << "in the end plain ones wait";
    EXPECT_THAT(notes_, ::testing::Contains(HasSubstr("igloo-copy")));
    notes_.clear();
    pool.Close();
  }
}

TEST_F(PoolTest, SiblingsComeFromTheSameCheckpoint) {
  const Open one = Take(Pool::Origin::kCheckpoint);
  ASSERT_TRUE(one && one->checkpoint);
  EXPECT_EQ(Say(*one, "print(1)"), "1\n");
  pool_.Shrink();
  pool_.Shrink();
  auto sibling = pool_.Sibling(*one);
  ASSERT_TRUE(sibling) << sibling.error().what;
  EXPECT_EQ((*sibling)->checkpoint, one->checkpoint) << "a session keeps it alive for its forks";
  EXPECT_EQ(Say(**sibling, "print(2)"), "2\n");
}

/// A fork is not kept waiting for a sandbox when there is one.
TEST_F(PoolTest, ASiblingIsOneThatWaitsIfThereIsOne) {
  const Open one = Take(Pool::Origin::kCheckpoint);
  ASSERT_TRUE(one && one->checkpoint);
  EXPECT_EQ(Say(*one, "print(1)"), "1\n");
  ASSERT_TRUE(RunUntil([&] { return pool_.waiting() > 0; }));
  const std::size_t waited = pool_.waiting();
  auto sibling = pool_.Sibling(*one);
  ASSERT_TRUE(sibling) << sibling.error().what;
  EXPECT_TRUE((*sibling)->started);
  EXPECT_EQ((*sibling)->checkpoint, one->checkpoint);
  EXPECT_EQ(pool_.waiting(), waited - 1);
  EXPECT_EQ(Say(**sibling, "print(2)"), "2\n");
}

TEST_F(PoolTest, MoreKindsThanShelvesReplaceTheOldest) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    recipe_.output_limit = i + (1U << 20);
    recipe_.checkpoint = false;
    Take();
  }
  Rest();
  EXPECT_LE(pool_.waiting(), 16U);
  EXPECT_GT(pool_.waiting(), 0U);
  pool_.Close();
  EXPECT_EQ(pool_.waiting(), 0U);
  EXPECT_TRUE(RunUntil([] { return Pythons().empty(); }));
}

}  // namespace
}  // namespace igloo::testing
