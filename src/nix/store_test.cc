#include "nix/store.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::nix {
namespace {

const std::string kPath = "/nix/store/" + std::string(32, 'c') + "-x";

TEST(StoreTest, IsReadFromNixsSettings) {
  EXPECT_EQ(StoreInSettings(R"({"store":{"value":"/a/b"}})"), "/a/b");
  EXPECT_EQ(StoreInSettings(R"({"store":{"value":"local?root=/a&x=y"}})"), "/a");
  EXPECT_EQ(StoreInSettings(R"({"store":{"value":"local?root=/a"}})"), "/a");
  EXPECT_EQ(StoreInSettings(R"({"store":{"value":"auto"}})"), "");
  EXPECT_EQ(StoreInSettings(R"({"store":"/a"})"), "");
  EXPECT_EQ(StoreInSettings("no"), "");
}

TEST(StoreTest, IsWhereThePathIs) {
  const TempDir home = TempDir::Make(testing::TempParent()).value();
  const std::string own = home.path() + "/.local/share/nix/root";
  std::filesystem::create_directories(own + kPath);
  const Settings settings{.variables = {"HOME=" + home.path()}};
  EXPECT_EQ(StorePrefixOf(settings, kPath).value(), own);
  EXPECT_EQ(StorePrefixOf({.store = own}, kPath).value(), own);
  EXPECT_FALSE(StorePrefixOf({.store = home.path()}, kPath));
  EXPECT_FALSE(StorePrefixOf({}, kPath));
}

}  // namespace
}  // namespace igloo::nix
