#include "guest/start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "wire/host.h"

namespace igloo::guest {
namespace {

using wire::PathRight;

wire::Start Example() {
  return {.nonce = {0x0102030405060708, 9},
          .time_limit_ms = 30'000,
          .grace_ms = 500,
          .memory = wire::MemoryWatch::kCgroup,
          .seccomp = wire::SeccompProfile::kDebug,
          .limits = {{4, 0}, {7, 1ULL << 40}},
          .paths = {{PathRight::kRead, "/"}, {PathRight::kDevice, "/dev/null"}},
          .cwd = "/workspace",
          .extra_descriptors = 2,
          .terminal = wire::Terminal::kOwn,
          .life = wire::Life::kStays,
          .birth = wire::Birth::kRestored,
          .sockets = wire::SocketWatch::kNone,
          .watched = wire::Watched::kFiles,
          .argv = {"/bin/echo", "", "a b"},
          .env = {"A=1", "B="}};
}

std::string PayloadOf(const wire::Start& start) {
  const auto frame = wire::EncodeStart(start);
  EXPECT_TRUE(frame);
  return frame->substr(wire::kHeaderSize);
}

/// Init's view turned back into the host's value, to be compared whole.
wire::Start ValueOf(const StartView& view) {
  wire::Start start{.nonce = view.nonce,
                    .time_limit_ms = view.time_limit_ms,
                    .grace_ms = view.grace_ms,
                    .memory = view.memory,
                    .seccomp = view.seccomp,
                    .cwd = view.cwd,
                    .extra_descriptors = view.extra_descriptors,
                    .terminal = view.terminal,
                    .life = view.life,
                    .birth = view.birth,
                    .sockets = view.sockets,
                    .watched = view.watched};
  for (uint32_t i = 0; i < view.limit_count; ++i) {
    start.limits.push_back({view.limits[i].resource, view.limits[i].value});
  }
  for (uint32_t i = 0; i < view.path_count; ++i) {
    start.paths.push_back({view.paths[i].right, view.paths[i].path});
  }
  for (const char* const* text = view.argv; *text != nullptr; ++text) start.argv.push_back(*text);
  for (const char* const* text = view.env; *text != nullptr; ++text) start.env.push_back(*text);
  return start;
}

/// Decodes from an allocation of exactly the payload's size, so that a sanitizer sees every byte
/// read too many.
bool Decode(const std::string& payload, StartView& view) {
  const auto exact = std::make_unique<char[]>(payload.size());
  std::ranges::copy(payload, exact.get());
  return DecodeStart(exact.get(), payload.size(), view);
}

bool Accepts(const std::string& payload) {
  const auto view = std::make_unique<StartView>();
  return Decode(payload, *view);
}

TEST(DecodeStartTest, SeesExactlyWhatTheHostSaid) {
  const std::string payload = PayloadOf(Example());
  const auto view = std::make_unique<StartView>();
  ASSERT_TRUE(DecodeStart(payload.data(), payload.size(), *view));
  EXPECT_EQ(ValueOf(*view), Example());
}

TEST(DecodeStartTest, RefusesEveryTruncationAndAnythingBehind) {
  const std::string payload = PayloadOf(Example());
  const auto view = std::make_unique<StartView>();
  for (std::size_t cut = 0; cut < payload.size(); ++cut) {
    EXPECT_FALSE(Decode(payload.substr(0, cut), *view)) << cut;
  }
  EXPECT_TRUE(Decode(payload, *view));
  EXPECT_FALSE(Decode(payload + '\0', *view));
}

TEST(DecodeStartTest, SurvivesEveryChangedByte) {
  const std::string payload = PayloadOf(Example());
  const auto view = std::make_unique<StartView>();
  for (std::size_t at = 0; at < payload.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      std::string changed = payload;
      changed[at] = static_cast<char>(value);
      Decode(changed, *view);  // whatever the answer: no read outside the payload
    }
  }
}

TEST(DecodeStartTest, RefusesOtherKindsAndProfiles) {
  std::string payload = PayloadOf(Example());
  for (const char kind : {0, 2, 3, 4}) {
    payload[0] = kind;
    EXPECT_FALSE(Accepts(payload)) << static_cast<int>(kind);
  }
  for (const int profile : {0, 5, 255}) {
    wire::Start start = Example();
    start.seccomp = static_cast<wire::SeccompProfile>(profile);
    EXPECT_FALSE(Accepts(PayloadOf(start))) << profile;
  }
}

TEST(DecodeStartTest, RefusesRightsThatNobodyKnows) {
  for (int right = 0; right < 256; ++right) {
    wire::Start start = Example();
    start.paths.push_back({static_cast<PathRight>(right), "/late"});
    EXPECT_EQ(Accepts(PayloadOf(start)), right >= 1 && right <= 3) << right;
  }
}

TEST(DecodeStartTest, KnowsTwoThatWatchMemory) {
  for (int watch = 0; watch < 256; ++watch) {
    wire::Start start = Example();
    start.memory = static_cast<wire::MemoryWatch>(watch);
    EXPECT_EQ(Accepts(PayloadOf(start)), watch <= 1) << watch;
  }
}

TEST(DecodeStartTest, KnowsTwoAnswersAboutTheTerminal) {
  for (int terminal = 0; terminal < 256; ++terminal) {
    wire::Start start = Example();
    start.terminal = static_cast<wire::Terminal>(terminal);
    EXPECT_EQ(Accepts(PayloadOf(start)), terminal <= 1) << terminal;
  }
}

TEST(DecodeStartTest, KnowsThreeWaysToWatch) {
  for (const int watched : {0, 1, 2, 3, 255}) {
    wire::Start start = Example();
    start.watched = static_cast<wire::Watched>(watched);
    EXPECT_EQ(Accepts(PayloadOf(start)), watched <= 2) << watched;
  }
}

TEST(DecodeStartTest, RefusesAnEmptyCommand) {
  wire::Start start = Example();
  start.argv.clear();
  EXPECT_FALSE(Accepts(PayloadOf(start)));
}

TEST(DecodeStartTest, AcceptsFullTablesAndNotOneMore) {
  const auto accepts = [](auto change) {
    wire::Start start = Example();
    change(start);
    return Accepts(PayloadOf(start));
  };
  EXPECT_TRUE(accepts([](auto& s) { s.limits.resize(StartView::kMaxLimits); }));
  EXPECT_FALSE(accepts([](auto& s) { s.limits.resize(StartView::kMaxLimits + 1); }));
  EXPECT_TRUE(accepts([](auto& s) { s.paths.resize(StartView::kMaxPaths); }));
  EXPECT_FALSE(accepts([](auto& s) { s.paths.resize(StartView::kMaxPaths + 1); }));
  EXPECT_TRUE(accepts([](auto& s) { s.argv.resize(StartView::kMaxStrings); }));
  EXPECT_FALSE(accepts([](auto& s) { s.argv.resize(StartView::kMaxStrings + 1); }));
  EXPECT_TRUE(accepts([](auto& s) { s.env.resize(StartView::kMaxStrings); }));
  EXPECT_FALSE(accepts([](auto& s) { s.env.resize(StartView::kMaxStrings + 1); }));
  EXPECT_TRUE(accepts([](auto& s) { s.extra_descriptors = 8; }));
  EXPECT_FALSE(accepts([](auto& s) { s.extra_descriptors = 9; }));
}

TEST(DecodeStartTest, HasRoomForAllFullTablesAtOnce) {
  wire::Start start = Example();
  start.limits.resize(StartView::kMaxLimits, {5, 6});
  start.paths.resize(StartView::kMaxPaths, {PathRight::kRead, "/p"});
  start.argv.resize(StartView::kMaxStrings, "a");
  start.env.resize(StartView::kMaxStrings, "E=1");
  const std::string payload = PayloadOf(start);
  const auto view = std::make_unique<StartView>();
  ASSERT_TRUE(DecodeStart(payload.data(), payload.size(), *view));
  EXPECT_EQ(ValueOf(*view), start);
}

TEST(DecodeStartTest, RefusesHostileCounts) {
  // Positions of the four counts in a start whose lists are empty but for one argument.
  wire::Start start{.argv = {"x"}};
  const std::string payload = PayloadOf(start);
  constexpr std::size_t kLimits = 1 + 16 + 24 + 2, kPaths = kLimits + 4, kArgv = kPaths + 4 + 5 + 9,
                        kEnv = kArgv + 4 + 6;
  ASSERT_EQ(payload.size(), kEnv + 4);
  for (const std::size_t at : {kLimits, kPaths, kArgv, kEnv}) {
    for (const char* count : {"\x7F\xFF\xFF\xFF", "\xFF\xFF\xFF\xFF", "\x80\x01\x01\x01"}) {
      std::string hostile = payload;
      hostile.replace(at, 4, count, 4);
      EXPECT_FALSE(Accepts(hostile)) << at;
    }
  }
}

}  // namespace
}  // namespace igloo::guest
