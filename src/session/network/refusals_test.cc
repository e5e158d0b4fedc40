#include "session/network/refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace igloo::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Nothing(const Refusal& /*refusal*/) { return ""; }

std::size_t SizeOf(const std::vector<std::string>& sentences) {
  return std::accumulate(sentences.begin(), sentences.end(), std::size_t{0},
                         [](std::size_t sum, const auto& each) { return sum + each.size(); });
}

Refusal Of(int number) {
  return {.sandbox = "run-1-2",
          .place = "h" + std::to_string(number) + ".example:80",
          .reason = "no rule allows it"};
}

TEST(RefusalTest, SaysWhatAndWhyInOneSentence) {
  EXPECT_EQ(ToText(Refusal{.place = "a.example:80", .reason = "no rule allows it"}),
            "a.example:80 was refused: no rule allows it");
  EXPECT_EQ(ToText(Refusal{.place = "a\x1b:80", .reason = "no\n", .times = 3}),
            "a\\x1b:80 was refused 3 times: no\\x0a");
  EXPECT_EQ(ToText(Refusal{.reason = "igloo-proxy has ended"}),
            "the network is closed: igloo-proxy has ended");
  EXPECT_EQ(ToText(Refusal{.kind = Refusal::Kind::kWarned,
                           .place = "a.example:443",
                           .reason = "the server sent it back",
                           .times = 2}),
            "a.example:443: the server sent it back (2 times)");
}

TEST(RefusalsTest, EachPlaceIsSaidOnceWithWhatCanBeDone) {
  Refusals refusals;
  for (const int number : {1, 2, 1}) refusals.Add(Of(number));
  EXPECT_THAT(
      Sentences(refusals, [](const Refusal& each) { return "; allow " + each.place; }),
      ElementsAre("h1.example:80 was refused 2 times: no rule allows it; allow h1.example:80",
                  "h2.example:80 was refused: no rule allows it; allow h2.example:80"));
  EXPECT_THAT(Sentences({}, Nothing), IsEmpty());
}

TEST(RefusalsTest, OfManyPlacesTheRestIsCounted) {
  Refusals refusals;
  for (int i = 0; i < 1000; ++i) refusals.Add(Of(i));
  refusals.Add(Of(0));
  EXPECT_EQ(refusals.list.size(), 32U);
  EXPECT_EQ(refusals.more, 968U);
  const auto sentences = Sentences(refusals, Nothing);
  ASSERT_EQ(sentences.size(), 33U);
  EXPECT_EQ(sentences.back(), "and 968 more: igloo net log --refused --sandbox run-1-2");
}

/// Code chooses the words.
TEST(RefusalsTest, AllOfThemTogetherAreBounded) {
  for (const std::size_t length : {std::size_t{100}, std::size_t{512}, std::size_t{5'000}}) {
    Refusals refusals;
    for (int i = 0; i < 40; ++i) {
      Refusal refusal = Of(i);
      refusal.sandbox = std::string(256, '\x01');
      refusal.reason = std::string(length, '\x1b');
      refusals.Add(refusal);
    }
    refusals.Add({.place = "short.example:80", .reason = "no"});
    const auto sentences = Sentences(refusals, Nothing);
    EXPECT_LE(SizeOf(sentences), kMostRefusalText);
    const std::uint64_t said = sentences.size() - 1;
    EXPECT_EQ(sentences.back(),
              "and " + std::to_string(41 - said) + " more: igloo net log --refused")
        << "a name that is too long is left out";
  }
  Refusals refusals;
  refusals.Add({.place = "long.example:80", .reason = std::string(5'000, 'x'), .times = 2});
  refusals.Add({.place = "short.example:80", .reason = "no"});
  EXPECT_THAT(Sentences(refusals, Nothing),
              ElementsAre("short.example:80 was refused: no",
                          "and 2 more: igloo net log --refused --sandbox ''"));
}

}  // namespace
}  // namespace igloo::session
