#include "service/output_store.h"

#include <gmock/gmock.h>

#include <set>

namespace igloo::service {
namespace {

TEST(OutputStoreTest, KeepsWhatItIsGivenUnderNamesThatNobodyGuesses) {
  OutputStore store;
  const auto uris = store.Keep({{"stdout", "text/plain", "all"},
                                {"files/a b/\xc3\xa4.bin", "x/y", std::string("\0\x01", 2)}});
  ASSERT_EQ(uris.size(), 2U);
  EXPECT_THAT(uris[0], ::testing::MatchesRegex("igloo://run/[0-9a-f]+/stdout"));
  EXPECT_EQ(uris[0].size(), std::string("igloo://run//stdout").size() + 32);
  EXPECT_THAT(uris[1], ::testing::EndsWith("/files/a%20b/%c3%a4.bin"));
  const auto text = store.Read(uris[0]);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->bytes, "all");
  const auto bytes = store.Read(uris[1]);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->bytes, std::string("\0\x01", 2));
  EXPECT_FALSE(store.Read("igloo://run/0/stdout"));
  EXPECT_FALSE(store.Read(""));
  std::set<std::string> different;
  for (int i = 0; i < 100; ++i) different.insert(store.Keep({{"x", "", ""}})[0]);
  EXPECT_EQ(different.size(), 100U);
}

TEST(OutputStoreTest, TheOldestRunMakesRoom) {
  OutputStore store({.bytes = 10, .items = 3});
  const auto first = store.Keep({{"a", "", "1234"}, {"b", "", "1"}});
  const auto second = store.Keep({{"c", "", "12345"}});
  EXPECT_TRUE(store.Read(first[0])) << "exactly full";
  const auto third = store.Keep({{"d", "", "1"}});
  EXPECT_FALSE(store.Read(first[0]));
  EXPECT_FALSE(store.Read(first[1])) << "a run goes as a whole";
  EXPECT_TRUE(store.Read(second[0]));
  EXPECT_EQ(store.bytes(), 6U);
  EXPECT_THAT(store.List(), ::testing::SizeIs(2));
  EXPECT_EQ(store.List()[0].uri, third[0]) << "the newest first";
  EXPECT_TRUE(store.Keep({{"huge", "", std::string(11, 'x')}}).empty());
  EXPECT_TRUE(store.Read(second[0])) << "what cannot be kept drives nothing out";
}

TEST(OutputStoreTest, LongNamesAreCutInTheirUris) {
  OutputStore store;
  for (std::size_t shift = 0; shift < 3; ++shift) {
    const std::string name = "files/" + std::string(shift, 'x') + std::string(3000, '\x01');
    const auto uris = store.Keep({{name + "a", "", "1"}, {name + "b", "", "2"}});
    EXPECT_LT(uris[0].size(), 300U);
    EXPECT_THAT(uris[0], ::testing::EndsWith("%01~0")) << "no escape is cut";
    EXPECT_EQ(store.Read(uris[0])->bytes, "1");
    EXPECT_EQ(store.Read(uris[1])->bytes, "2");
    EXPECT_LT(store.List()[0].name.size(), 300U);
  }
}

TEST(OutputStoreTest, TheGenerationTellsOfEveryChange) {
  OutputStore store({.bytes = 4, .items = 3});
  const auto before = store.generation();
  store.Keep({{"a", "", "1234"}});
  const auto first = store.generation();
  EXPECT_NE(first, before);
  store.Keep({{"b", "", "1234"}});
  EXPECT_NE(store.generation(), first) << "full, and of the same size as before";
  const auto second = store.generation();
  store.Keep({{"c", "", "12345"}});
  EXPECT_EQ(store.generation(), second) << "not kept";
}

}  // namespace
}  // namespace igloo::service
