#include "service/live_setup.h"

#include <gtest/gtest.h>

namespace igloo::service {
namespace {

class LiveSetupTest : public ::testing::Test {
 protected:
  LiveSetup Make() {
    return LiveSetup([this]() -> Result<std::shared_ptr<const service::Setup>> {
      ++loads_;
      if (broken_) return Fail(Errc::kInvalidArgument, "line 3 is wrong");
      return service::Setup::Nothing();
    });
  }
  bool broken_ = false;
  int loads_ = 0;
};

TEST_F(LiveSetupTest, IsReadWithItsFirstUseAndThenWhenItIsReadAgain) {
  LiveSetup live = Make();
  EXPECT_EQ(loads_, 0);
  const auto first = live.CurrentOrNothing();
  EXPECT_EQ(live.CurrentOrNothing(), first);
  EXPECT_EQ(loads_, 1);
  ASSERT_TRUE(live.Reload());
  EXPECT_NE(live.CurrentOrNothing(), first);
  EXPECT_EQ(loads_, 2);
}

TEST_F(LiveSetupTest, ABrokenOneChangesNothing) {
  LiveSetup live = Make();
  const auto good = live.CurrentOrNothing();
  broken_ = true;
  const auto failed = live.Reload();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "line 3 is wrong");
  EXPECT_EQ(live.CurrentOrNothing(), good);
}

TEST_F(LiveSetupTest, TheFirstOneMayBeBrokenAndMendedLater) {
  broken_ = true;
  LiveSetup live = Make();
  EXPECT_FALSE(live.Current());
  EXPECT_FALSE(live.Current());
  EXPECT_EQ(loads_, 1) << "nobody waits for it twice";
  EXPECT_TRUE(live.CurrentOrNothing()->offered().empty());
  broken_ = false;
  ASSERT_TRUE(live.Reload());
  EXPECT_TRUE(live.Current());
}

}  // namespace
}  // namespace igloo::service
