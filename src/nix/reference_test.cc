#include "nix/reference.h"

#include <gmock/gmock.h>

namespace igloo::nix {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Reference Parse(std::string_view text) {
  auto parsed = ParseReference(text, "/home/me");
  EXPECT_TRUE(parsed) << text << ": " << parsed.error().what;
  return parsed.value_or(Reference{});
}

TEST(ReferenceTest, ReadsAddressesPathsAndNames) {
  for (const char* flake :
       {"nixpkgs", "nixpkgs/nixos-25.11", "github:owner/repo", "github:owner/repo/branch?dir=sub",
        "git+https://example.org/x.git?ref=a", "path:/a/b", "/a/b", "/a/b?dir=c"}) {
    EXPECT_EQ(Parse(flake), (Reference{.flake = flake}));
    EXPECT_EQ(Parse(std::string(flake) + "#x").attribute, std::vector<std::string>{"x"});
  }
}

TEST(ReferenceTest, MakesRelativePathsAbsolute) {
  EXPECT_EQ(Parse(".").flake, "/home/me");
  EXPECT_EQ(Parse("./tools/#x").flake, "/home/me/tools");
  EXPECT_EQ(Parse("../you").flake, "/home/you");
  EXPECT_EQ(Parse("path:./tools").flake, "path:/home/me/tools");
}

TEST(ReferenceTest, SplitsAttributes) {
  EXPECT_THAT(Parse("nixpkgs#a.b.c").attribute, ElementsAre("a", "b", "c"));
  EXPECT_THAT(Parse("nixpkgs#a.\"b.c\".d'").attribute, ElementsAre("a", "b.c", "d'"));
  EXPECT_THAT(Parse("nixpkgs#").attribute, IsEmpty());
}

TEST(ReferenceTest, RefusesWhatIsNone) {
  for (const std::string text : {"",
                                 "-",
                                 "--option",
                                 "-f x",
                                 "a b",
                                 "nixpkgs#a b",
                                 "nixpkgs\n--help",
                                 "nixpkgs#x\ny",
                                 "#x",
                                 "(builtins.abort)",
                                 "$(id)",
                                 "nixpkgs#a..b",
                                 "nixpkgs#.a",
                                 "nixpkgs#a.",
                                 "nixpkgs#a\"b",
                                 "nixpkgs#\"a",
                                 "nixpkgs#\"\"",
                                 "nixpkgs#a^out",
                                 "nixpkgs#${x}",
                                 "nix\xffpkgs",
                                 "~/x"}) {
    EXPECT_FALSE(ParseReference(text, "/home/me")) << text;
  }
  EXPECT_FALSE(ParseReference(std::string(3000, 'a'), "/"));
  EXPECT_FALSE(ParseReference(std::string_view("a\0b", 3), "/"));
  const auto failed = ParseReference("--impure", "/");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().what, HasSubstr("'--impure' is no flake: it begins with '-'"));
  EXPECT_THAT(failed.error().hint, HasSubstr("nixpkgs#ripgrep"));
}

TEST(ReferenceTest, IsWrittenAsItWasRead) {
  for (const char* text : {"nixpkgs#a.b", "github:o/r", "nixpkgs#\"a.b\".c"}) {
    EXPECT_EQ(ToText(Parse(text)), text);
  }
}

TEST(ReferenceTest, HasANameThatAnEnvironmentCanHave) {
  EXPECT_EQ(NameFor(Parse("nixpkgs#ripgrep")), "ripgrep");
  EXPECT_EQ(NameFor(Parse("nixpkgs#python3Packages.numpy")), "numpy");
  EXPECT_EQ(NameFor(Parse("github:owner/repo")), "repo");
  EXPECT_EQ(NameFor(Parse("github:owner/repo/main?dir=x")), "repo");
  EXPECT_EQ(NameFor(Parse("/home/me/tools")), "tools");
  EXPECT_EQ(NameFor(Parse("path:/home/me/tools#packages.x86_64-linux.default")), "tools");
  EXPECT_EQ(NameFor(Parse("git+file:///srv/x.git?ref=a")), "x.git");
  EXPECT_EQ(NameFor(Parse("/")), "flake");
  EXPECT_EQ(NameFor(Parse("nixpkgs#gtk+x'")), "gtk-x-");
}

TEST(NixStringTest, KeepsEveryByte) {
  EXPECT_EQ(NixString("a\"b\\c${d}$e\n"), R"("a\"b\\c\${d}\$e\n")");
}

}  // namespace
}  // namespace igloo::nix
