#include "agent/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <cerrno>

namespace igloo::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Event = network::Record::Event;

network::Record Refused(std::string host, std::string rule) {
  return {.event = Event::kRefused,
          .time_ms = 12'345,
          .host = std::move(host),
          .port = 443,
          .refusal = "no rule allows it",
          .remedy = std::move(rule)};
}

TEST(ExplainNetworkTest, NamesThePlaceAndTheRuleThatWouldAllowIt) {
  const auto refusal = ExplainNetwork(Refused("example.com", "example.com:443"));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->what, "example.com:443");
  EXPECT_EQ(refusal->first, 12);
  EXPECT_THAT(refusal->remedy, StartsWith("--allow example.com:443 allows it"));
  EXPECT_EQ(ExplainNetwork(Refused("::1", ""))->what, "[::1]:443");
  EXPECT_EQ(ExplainNetwork(Refused("::1", ""))->remedy, "no rule allows it");
  EXPECT_EQ(ExplainNetwork(Refused("", ""))->what, "a place without a name");
  EXPECT_THAT(ExplainNetwork(Refused("a", "x y; rm"))->remedy, HasSubstr("--allow 'x y; rm'"));
}

TEST(ExplainNetworkTest, WhatWasAllowedIsNoRefusal) {
  network::Record record = Refused("example.com", "");
  for (const Event event : {Event::kOpened, Event::kUsed, Event::kReturned, Event::kUnsearched}) {
    record.event = event;
    EXPECT_FALSE(ExplainNetwork(record));
  }
  record.event = Event::kEnded;
  EXPECT_TRUE(ExplainNetwork(record)) << "one that was refused after it was opened";
  record.refusal.clear();
  EXPECT_FALSE(ExplainNetwork(record));
}

TEST(ExplainCallTest, EveryCallHasANameAndARemedy) {
  const Refusal known = ExplainCall(SYS_ptrace, "/usr/bin/strace", 3);
  EXPECT_EQ(known.what, "ptrace");
  EXPECT_EQ(known.count, 3U);
  EXPECT_THAT(known.remedy, StartsWith("nothing allows it"));
  EXPECT_THAT(ExplainCall(SYS_socket, "", 1).remedy, HasSubstr("raw_sockets = true"));
  EXPECT_EQ(ExplainCall(4095, "", 1).what, "other calls");
}

TEST(ExplainGrantTest, SaysWhichGrantAndThatNothingGivesMore) {
  const Refusal refusal = ExplainGrant("--with-ssh", "add a key");
  EXPECT_EQ(refusal.what, "add a key");
  EXPECT_THAT(refusal.reason, HasSubstr("--with-ssh"));
  EXPECT_THAT(refusal.remedy, StartsWith("nothing allows it"));
}

class BoxPlacesTest : public ::testing::Test {
 protected:
  static sandbox::Plan PlanOfAnn() {
    namespace step = sandbox::step;
    sandbox::Plan plan;
    plan.environment = {step::Bind{.source = "/usr", .target = "/usr"}};
    plan.fresh = {step::Tmpfs{.target = "/tmp"}};
    plan.run = {
        step::Tmpfs{.target = "/home/ann"},
        step::Bind{.source = "/home/ann/p",
                   .target = "/home/ann/p",
                   .access = sandbox::Access::kReadWrite},
        step::Bind{.source = "/home/ann/p/.git/hooks", .target = "/home/ann/p/.git/hooks"},
        step::Hide{.tree = "/home/ann/p", .target = "/home/ann/p/.env", .cover = "/.igloo/hidden"}};
    return plan;
  }
  static Box BoxOfAnn() {
    return {.project = "/home/ann/p",
            .home = "/home/ann",
            .mounts = {{sandbox::HostTree{.source = "/home/ann/p/.git/hooks",
                                          .target = "/home/ann/p/.git/hooks"},
                        "your git runs what it names"}}};
  }
  std::optional<Refusal> Explain(std::string path, int error, bool written = false) const {
    return places_.Explain(
        {.path = std::move(path), .program = "/bin/cat", .written = written, .error = error});
  }
  Box box_ = BoxOfAnn();
  sandbox::Plan plan_ = PlanOfAnn();
  BoxPlaces places_{box_, plan_, [](const std::string& path) {
                      return path.starts_with("/home/ann/.cargo") || path == "/srv/data" ||
                             path == "/srv/data/x" || path == "/etc/ld.so.preload";
                    }};
};

TEST_F(BoxPlacesTest, AHiddenFileIsOpenedByItsOption) {
  const auto refusal = Explain("/home/ann/p/x/../.env", EACCES);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->kind, RefusalKind::kHidden);
  EXPECT_EQ(refusal->what, "/home/ann/p/.env");
  EXPECT_EQ(refusal->remedy, "--show-hidden .env shows it");
}

TEST_F(BoxPlacesTest, AWriteSaysWhatWouldAllowItOrThatNothingDoes) {
  const auto remedy = [&](const char* path, int error) {
    const auto refusal = Explain(path, error, true);
    EXPECT_TRUE(refusal && refusal->kind == RefusalKind::kWrite) << path;
    return refusal ? refusal->remedy : "";
  };
  EXPECT_THAT(remedy("/usr/bin/x", EROFS), StartsWith("nothing allows it"));
  EXPECT_THAT(remedy("/home/ann/p/.git/hooks/pre-commit", EROFS),
              HasSubstr("your git runs what it names"));
  EXPECT_THAT(remedy("/home/ann/.cargo/x", EACCES), StartsWith("--home .cargo "));
  EXPECT_THAT(remedy("/srv/data/x", EROFS), StartsWith("--mount /srv/data:rw "));
  EXPECT_THAT(remedy("/x", EACCES), StartsWith("nothing allows it"));
}

TEST_F(BoxPlacesTest, WhatOnlyTheHostHasIsMissing) {
  const auto cargo = Explain("/home/ann/.cargo/config.toml", ENOENT);
  ASSERT_TRUE(cargo);
  EXPECT_EQ(cargo->kind, RefusalKind::kMissing);
  EXPECT_THAT(cargo->remedy, HasSubstr("--home .cargo"));
  EXPECT_THAT(Explain("/srv/data/x", ENOENT)->remedy, HasSubstr("--mount /srv/data "));
  const auto written = Explain("/srv/data/new", ENOENT, true);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->kind, RefusalKind::kWrite);
  EXPECT_EQ(written->remedy, "--mount /srv/data:rw shows it");
  // Every program asks for these; and what is nowhere was refused by nobody.
  EXPECT_FALSE(Explain("/etc/ld.so.preload", ENOENT));
  EXPECT_FALSE(Explain("/home/ann/nowhere", ENOENT));
  EXPECT_FALSE(Explain("/proc/1/environ", EACCES));
  EXPECT_FALSE(Explain("/home/ann/p/file", 0));
}

TEST_F(BoxPlacesTest, AHomeCanLieWhereTheSystemDoes) {
  box_.home = "/root";
  const BoxPlaces places(box_, plan_, [](const std::string&) { return true; });
  EXPECT_TRUE(places.Explain({.path = "/root/.cargo/config.toml", .error = ENOENT}));
  EXPECT_FALSE(places.Explain({.path = "/usr/lib/x", .error = ENOENT}));
}

TEST(DirectoryBelowHomeTest, IsTheOneThatBelongsTogether) {
  const auto of = [](const char* path) { return DirectoryBelowHome(path, "/h"); };
  EXPECT_EQ(of("/h/.cargo/bin/x"), ".cargo");
  EXPECT_EQ(of("/h/.config/gh/hosts.yml"), ".config/gh");
  EXPECT_EQ(of("/h/.local/share/x/y"), ".local/share/x");
  EXPECT_EQ(of("/h/.config/starship.toml"), ".config/starship.toml");
  EXPECT_EQ(of("/h/.npmrc"), "");
  EXPECT_EQ(of("/h"), "");
  EXPECT_EQ(of("/hh/x/y"), "");
}

TEST(PlainPathTest, HasNoWaysBackAndNoDoubleSlashes) {
  EXPECT_EQ(PlainPath("/a//b/../c/./d/"), "/a/c/d");
  EXPECT_EQ(PlainPath("/../.."), "/");
}

}  // namespace
}  // namespace igloo::agent
