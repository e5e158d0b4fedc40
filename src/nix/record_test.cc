#include "nix/record.h"

#include <gmock/gmock.h>

namespace igloo::nix {
namespace {

const std::string kOut = "/nix/store/" + std::string(32, 'a') + "-sandbox-rg";

Record Whole() {
  return {.project = "/home/me/app",
          .built = Built{.digest = "d",
                         .lock = "l",
                         .out = kOut,
                         .prefix = "/root",
                         .reference = "nixpkgs#ripgrep",
                         .flake = "nixpkgs",
                         .locked = "github:NixOS/nixpkgs/abc",
                         .artifact = true,
                         .own_packages = true,
                         .trusted = "t"},
          .failure = Failure{.digest = "e", .what = "Nix says: no\nreally", .hint = "fix it"}};
}

TEST(RecordTest, ComesBackAsItWas) {
  EXPECT_EQ(ParseRecord(ToJson(Whole())).value(), Whole());
  EXPECT_EQ(ParseRecord(ToJson({})).value(), Record{});
}

TEST(RecordTest, RefusesWhatIsDamaged) {
  for (const char* text : {"", "[]", "{", "{\"built\":{}}", "{\"built\":{\"out\":\"/etc\"}}",
                           "{\"built\":{\"out\":\"/nix/store/../../etc\"}}"}) {
    EXPECT_FALSE(ParseRecord(text)) << text;
  }
}

TEST(LockedSourceTest, SaysTheRevision) {
  EXPECT_EQ(LockedSource(R"({"nodes":{"source":{"locked":{"type":"github","owner":"NixOS",
                             "repo":"nixpkgs","rev":"abc"}}}})"),
            "github:NixOS/nixpkgs/abc");
  EXPECT_EQ(LockedSource(R"({"nodes":{"source":{"locked":{"type":"git","url":"https://x/y",
                             "rev":"abc"}}}})"),
            "git:https://x/y at abc");
  EXPECT_EQ(LockedSource(R"({"nodes":{"source":{"locked":{"type":"path","path":"/a",
                             "narHash":"sha256-x"}}}})"),
            "path:/a at sha256-x");
  EXPECT_EQ(LockedSource("{\"nodes\":[]}"), "");
  EXPECT_EQ(LockedSource("no"), "");
}

TEST(LockTest, IsAnObjectWithNodes) {
  EXPECT_TRUE(IsLock("{\"nodes\":{}}"));
  for (const char* text : {"", "{}", "[]", "{ broken", "{\"nodes\":[]}"})
    EXPECT_FALSE(IsLock(text));
}

TEST(OutOfTest, TakesTheOutput) {
  EXPECT_EQ(OutOf("[{\"outputs\":{\"dev\":\"/x\",\"out\":\"" + kOut + "\"}}]").value(), kOut);
  EXPECT_EQ(OutOf("[{\"outputs\":{\"bin\":\"" + kOut + "\"}}]").value(), kOut);
  for (const char* text : {"", "[]", "[{}]", "[{\"outputs\":{}}]", "[{\"outputs\":{\"out\":3}}]",
                           "[{\"outputs\":{\"out\":\"/etc\"}}]"}) {
    EXPECT_FALSE(OutOf(text)) << text;
  }
}

}  // namespace
}  // namespace igloo::nix
