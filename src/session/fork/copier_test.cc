#include "session/fork/copier.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/spawn.h"
#include "base/temp_dir.h"
#include "session/asio.h"
#include "support/igloo.h"

namespace igloo::session {
namespace {

namespace asio = boost::asio;

/// A program in igloo-copy's place.
class CopierTest : public ::testing::Test {
 protected:
  std::unique_ptr<Copier> Start(const std::string& script, std::chrono::milliseconds limit) {
    const std::string program = directory_.path() + "/program";
    std::ofstream(program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program, std::filesystem::perms(0700));
    return Copier::Start(loop_, program, {.original = 7}, {}, limit).value();
  }

  Result<std::optional<Copier::Heard>> Hear(Copier& copier) {
    std::optional<Result<std::optional<Copier::Heard>>> heard;
    const auto hear = [&]() -> asio::awaitable<void> { heard = co_await copier.Hear(); };
    asio::co_spawn(loop_, hear(), asio::detached);
    loop_.restart();
    while (!heard && loop_.run_one() > 0) {
    }
    return *std::move(heard);
  }

  TempDir directory_ = TempDir::Make(igloo::testing::TempParent()).value();
  asio::io_context loop_{1};
};

TEST_F(CopierTest, OneThatNeverSaysAnythingIsEnded) {
  const auto copier =
      Start("exec " + FindInPath("sleep") + " 100000\n", std::chrono::milliseconds(20));
  for (int i = 0; i < 2; ++i) {
    const auto heard = Hear(*copier);
    ASSERT_FALSE(heard);
    EXPECT_EQ(heard.error().code, Errc::kTimeout);
  }
}

TEST_F(CopierTest, OneThatEndsIsNotWaitedFor) {
  const auto copier = Start("exit 0\n", std::chrono::hours(24));
  const auto heard = Hear(*copier);
  ASSERT_TRUE(heard) << heard.error().what;
  EXPECT_FALSE(*heard);
}

/// Its time may be over in the moment in which nobody needs it any more.
TEST_F(CopierTest, OneWhoseTimeIsOverCanBeDropped) {
  auto copier = Start("exec " + FindInPath("sleep") + " 100000\n", std::chrono::milliseconds(0));
  copier.reset();
  loop_.restart();
  loop_.poll();
}

}  // namespace
}  // namespace igloo::session
