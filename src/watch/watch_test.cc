#include "watch/watch.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::watch {
namespace {

namespace asio = boost::asio;

class WatchTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return top_.path() + "/" + name; }
  void Write(const std::string& name) const { std::ofstream(Path(name)) << "text"; }
  Watch Make() { return Watch::Make(loop_, {{.path = Path("a")}}).value(); }
  /// Waits for one change; nullopt: there was none before the loop had nothing left to do.
  void Wait(Watch& watch, std::optional<bool>& changed) {
    asio::co_spawn(loop_, watch.Changed(),
                   [&changed](const std::exception_ptr& thrown, bool result) {
                     EXPECT_EQ(thrown, nullptr);
                     changed = result;
                   });
  }

  TempDir top_ = TempDir::Make(igloo::testing::TempParent()).value();
  asio::io_context loop_;
};

TEST_F(WatchTest, TellsOfAChangeBeforeItWasAskedFor) {
  Watch watch = Make();
  Write("a");
  std::optional<bool> changed;
  Wait(watch, changed);
  loop_.run();
  EXPECT_EQ(changed, true);
}

TEST_F(WatchTest, TellsOfAChangeWhileSomebodyWaits) {
  Watch watch = Make();
  std::optional<bool> changed;
  Wait(watch, changed);
  loop_.poll();
  EXPECT_EQ(changed, std::nullopt);
  Write("b");
  loop_.poll();
  Write("a");
  loop_.run();
  EXPECT_EQ(changed, true);
}

TEST_F(WatchTest, ChangesOfOneMomentAreOne) {
  Watch watch = Make();
  std::optional<bool> changed;
  Write("a");
  Wait(watch, changed);
  loop_.poll();
  // It is waiting for what else there is.
  EXPECT_EQ(changed, std::nullopt);
  Write("a");
  loop_.run();
  EXPECT_EQ(changed, true);
  std::optional<bool> again;
  Wait(watch, again);
  loop_.restart();
  loop_.poll();
  EXPECT_EQ(again, std::nullopt);
  Write("a");
  loop_.run();
  EXPECT_EQ(again, true);
}

TEST_F(WatchTest, ClosingItEndsTheWait) {
  Watch watch = Make();
  std::optional<bool> changed;
  Wait(watch, changed);
  loop_.poll();
  watch.Close();
  loop_.run();
  EXPECT_EQ(changed, false);
  std::optional<bool> again;
  Wait(watch, again);
  loop_.restart();
  loop_.run();
  EXPECT_EQ(again, false);
}

TEST_F(WatchTest, ClosingItEndsTheWaitForMoreChanges) {
  Watch watch = Make();
  Write("a");
  std::optional<bool> changed;
  Wait(watch, changed);
  loop_.poll();
  watch.Close();
  loop_.run();
  EXPECT_EQ(changed, false);
}

TEST_F(WatchTest, ItMayGoAwayWhileSomebodyWaits) {
  std::optional<bool> changed;
  {
    Watch watch = Make();
    Wait(watch, changed);
    loop_.poll();
  }
  loop_.run();
  EXPECT_EQ(changed, false);
}

}  // namespace
}  // namespace igloo::watch
