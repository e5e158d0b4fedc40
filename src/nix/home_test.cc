#include "nix/home.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::nix {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

const std::string kOut = "/nix/store/" + std::string(32, 'd') + "-sandbox-x";
const std::string kOther = "/nix/store/" + std::string(32, 'f') + "-sandbox-x";

class HomeTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(place_.Make()); }
  /// As a build leaves it.
  void Build() {
    const std::string lock = "{\"nodes\":{}}";
    fs::create_directories(place_.flake());
    ASSERT_TRUE(ReplaceFile(place_.flake() + "/flake.lock", lock));
    fs::create_directories(prefix() + kOut);
    Link(kOut);
    ASSERT_TRUE(place_.Write({.built = Built{.digest = DigestOf(wanted_, settings_),
                                             .lock = Sha256Hex(lock),
                                             .out = kOut,
                                             .prefix = prefix()}}));
  }
  void Link(const std::string& out) const { fs::create_symlink(out, place_.link(out)); }
  std::string prefix() const { return dir_.path() + "/store"; }
  State::Kind Looked() const { return Look(settings_, wanted_).kind; }

  TempDir dir_ = TempDir::Make(testing::TempParent()).value();
  Settings settings_{.home = dir_.path() + "/home"};
  Wanted wanted_{.key = "x", .name = "x", .reference = {"nixpkgs", {"x"}}};
  Place place_{settings_, "x"};
};

TEST_F(HomeTest, IsReadyOnlyWhileEverythingIsThere) {
  EXPECT_EQ(Looked(), State::Kind::kMissing);
  Build();
  EXPECT_EQ(Looked(), State::Kind::kReady);
  wanted_.reference.attribute = {"y"};
  EXPECT_EQ(Looked(), State::Kind::kMissing);
  wanted_.reference.attribute = {"x"};
  EXPECT_EQ(Looked(), State::Kind::kReady);

  fs::remove(place_.link(kOut));
  EXPECT_EQ(Looked(), State::Kind::kMissing) << "the collector may take it";
  Link(kOut);
  fs::rename(prefix() + kOut, prefix() + "/gone");
  EXPECT_EQ(Looked(), State::Kind::kMissing);
  fs::rename(prefix() + "/gone", prefix() + kOut);
  EXPECT_EQ(Looked(), State::Kind::kReady);
  ASSERT_TRUE(ReplaceFile(place_.flake() + "/flake.lock", "{\"nodes\":{\"a\":{}}}"));
  EXPECT_EQ(Looked(), State::Kind::kMissing);
  ASSERT_TRUE(ReplaceFile(place_.path() + "/record.json", "damaged"));
  EXPECT_EQ(Looked(), State::Kind::kMissing);
}

TEST_F(HomeTest, AFailureIsToldUntilSomethingElseIsWanted) {
  ASSERT_TRUE(place_.Write(
      {.failure = Failure{
           .digest = DigestOf(wanted_, settings_), .what = "Nix says: no", .hint = "try"}}));
  const State state = Look(settings_, wanted_);
  EXPECT_EQ(state.kind, State::Kind::kFailed);
  EXPECT_EQ(state.error.what, "environment 'x' (flake nixpkgs#x) could not be built: Nix says: no");
  EXPECT_EQ(state.error.hint, "try");
  wanted_.reference.attribute = {"y"};
  EXPECT_EQ(Looked(), State::Kind::kMissing);
}

TEST_F(HomeTest, HintsNameTheProjectThatAsks) {
  EXPECT_EQ(Look(settings_, wanted_).error.hint, "build it: igloo env build x");
  EXPECT_EQ(AgainHint(wanted_), "correct it or try again: igloo env build x");
  wanted_.project = "/a b";
  EXPECT_EQ(Look(settings_, wanted_).error.hint, "build it: igloo env build x --project '/a b'");
  EXPECT_EQ(AgainHint(wanted_), "correct it or try again: igloo env build x --project '/a b'");
}

TEST_F(HomeTest, WhoeverMakesItHasItAlone) {
  const auto held = place_.Lock(Place::Wait::kNo);
  ASSERT_TRUE(held);
  EXPECT_EQ(Looked(), State::Kind::kBuilding);
  EXPECT_THAT(place_.Lock(Place::Wait::kNo).error().what, HasSubstr("is being made"));
  EXPECT_FALSE(place_.Remove());
}

TEST_F(HomeTest, WhatIsUsedKeepsItsLinks) {
  Link(kOut);
  Link(kOther);
  {
    const auto one = place_.Use();
    const auto another = place_.Use();
    ASSERT_TRUE(one && another);
    place_.DropLinks(place_.link(kOther));
    EXPECT_TRUE(fs::is_symlink(place_.link(kOut)));
    EXPECT_THAT(place_.Remove().error().what, HasSubstr("is in use"));
  }
  place_.DropLinks(place_.link(kOther));
  EXPECT_FALSE(fs::is_symlink(place_.link(kOut)));
  EXPECT_TRUE(fs::is_symlink(place_.link(kOther)));
  EXPECT_TRUE(place_.Remove());
  EXPECT_THAT(Keys(settings_), IsEmpty());
}

TEST_F(HomeTest, WhatWasAddedIsFoundByItsName) {
  EXPECT_THAT(Added(settings_), IsEmpty());
  ASSERT_TRUE(place_.WriteAdded("nixpkgs#ripgrep"));
  const auto added = Added(settings_);
  ASSERT_EQ(added.size(), 1U);
  EXPECT_EQ(added[0].name, "x");
  EXPECT_EQ(ToText(added[0].reference), "nixpkgs#ripgrep");
  EXPECT_THAT(Keys(settings_), ElementsAre("x"));
  ASSERT_TRUE(place_.WriteAdded("--no reference"));
  EXPECT_THAT(Added(settings_), IsEmpty());
}

}  // namespace
}  // namespace igloo::nix
