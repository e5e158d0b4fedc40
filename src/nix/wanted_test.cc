#include "nix/wanted.h"

#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <set>

namespace igloo::nix {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Settings kSettings{.nixpkgs = "github:NixOS/nixpkgs", .home = "/state/nix"};

Wanted Ripgrep() { return {.key = "rg", .name = "rg", .reference = {"nixpkgs", {"ripgrep"}}}; }

TEST(FlakeFilesTest, NamesTheFlakeAsItsOneInput) {
  const auto files = FlakeFiles(Ripgrep(), kSettings, Packages::kOfFlake);
  EXPECT_THAT(files.at("flake.nix"), AllOf(HasSubstr("inputs.source.url = \"nixpkgs\";"),
                                           Not(HasSubstr("inputs.nixpkgs"))));
  EXPECT_THAT(FlakeFiles(Ripgrep(), kSettings, Packages::kOwn).at("flake.nix"),
              HasSubstr("inputs.nixpkgs.url = \"github:NixOS/nixpkgs\";"));
  for (const char* name : {"environment.nix", "lib/mkEnvironment.nix", "lib/mkMetadata.nix"}) {
    EXPECT_THAT(files.at(name), Not(HasSubstr("igloo("))) << name;
  }
}

TEST(FlakeFilesTest, AskedForIsData) {
  Wanted wanted = Ripgrep();
  wanted.reference.attribute = {"a\"b", "${c}"};
  const auto files = FlakeFiles(wanted, kSettings, Packages::kOfFlake);
  const auto request = boost::json::parse(files.at("request.json"));
  EXPECT_EQ(request.at("attribute"), boost::json::value({"a\"b", "${c}"}));
  EXPECT_EQ(request.at("kind"), "package");
  EXPECT_EQ(files.at("flake.nix"),
            FlakeFiles(Ripgrep(), kSettings, Packages::kOfFlake).at("flake.nix"));
}

TEST(FlakeFilesTest, NothingOfAReferenceEndsItsString) {
  Wanted wanted = Ripgrep();
  wanted.reference.flake = "path:/a\"; outputs = x; b = \"${builtins.abort \"!\"}";
  EXPECT_THAT(FlakeFiles(wanted, kSettings, Packages::kOfFlake).at("flake.nix"),
              HasSubstr(R"("path:/a\"; outputs = x; b = \"\${builtins.abort \"!\"}";)"));
}

TEST(DigestTest, EverythingThatDecidesCounts) {
  std::set<std::string> digests = {DigestOf(Ripgrep(), kSettings)};
  Wanted other = Ripgrep();
  other.reference.flake = "github:NixOS/nixpkgs/nixos-25.11";
  EXPECT_TRUE(digests.insert(DigestOf(other, kSettings)).second);
  other = Ripgrep();
  other.reference.attribute = {"fd"};
  EXPECT_TRUE(digests.insert(DigestOf(other, kSettings)).second);
  other = Ripgrep();
  other.kind = Kind::kShell;
  EXPECT_TRUE(digests.insert(DigestOf(other, kSettings)).second);
  other = Ripgrep();
  other.trusted = "abc";
  EXPECT_TRUE(digests.insert(DigestOf(other, kSettings)).second);
  Settings elsewhere = kSettings;
  elsewhere.store = "/other";
  EXPECT_TRUE(digests.insert(DigestOf(Ripgrep(), elsewhere)).second);
  EXPECT_FALSE(digests.insert(DigestOf(Ripgrep(), kSettings)).second);
}

TEST(FlakeFilesTest, AProjectsOwnFlakeIsTheCopyOfItsFiles) {
  Wanted wanted = Ripgrep();
  wanted.reference.flake = "/home/me/app";
  wanted.files = {{"flake.nix", "{ }"}};
  EXPECT_THAT(FlakeFiles(wanted, kSettings, Packages::kOfFlake).at("flake.nix"),
              AllOf(HasSubstr("inputs.source.url = \"path:/state/nix/rg/source\";"),
                    Not(HasSubstr("/home/me"))));
}

TEST(KeyTest, ProjectsDoNotShareNames) {
  EXPECT_EQ(KeyFor("web", ""), "web");
  EXPECT_NE(KeyFor("web", "/a"), KeyFor("web", "/b"));
  EXPECT_THAT(KeyFor("web", "/a"), HasSubstr("web~"));
}

TEST(PathAddressTest, EscapesWhatAddressesDoNotHave) {
  EXPECT_EQ(PathAddress("/a-b_c.d/e"), "path:/a-b_c.d/e");
  EXPECT_EQ(PathAddress("/a b#c?d%"), "path:/a%20b%23c%3Fd%25");
}

}  // namespace
}  // namespace igloo::nix
