#include "tools/store.h"

#include <gmock/gmock.h>

#include <set>

namespace igloo::tools {
namespace {

TEST(StoreTest, KeepsWhatItIsGivenUnderNamesThatNobodyGuesses) {
  Store store;
  const auto uris = store.Keep({{"stdout", "text/plain", "all"},
                                {"files/a b/\xc3\xa4.bin", "x/y", std::string("\0\x01", 2)}});
  ASSERT_EQ(uris.size(), 2U);
  EXPECT_THAT(uris[0], ::testing::MatchesRegex("igloo://run/[0-9a-f]+/stdout"));
  EXPECT_EQ(uris[0].size(), std::string("igloo://run//stdout").size() + 32);
  EXPECT_THAT(uris[1], ::testing::EndsWith("/files/a%20b/%c3%a4.bin"));
  const auto text = store.Read(uris[0]);
  ASSERT_TRUE(text);
  EXPECT_EQ(std::get<std::string>(text->body), "all");
  const auto bytes = store.Read(uris[1]);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(std::get<mcp::Blob>(bytes->body).bytes, std::string("\0\x01", 2));
  EXPECT_FALSE(store.Read("igloo://run/0/stdout"));
  EXPECT_FALSE(store.Read(""));
  std::set<std::string> different;
  for (int i = 0; i < 100; ++i) different.insert(store.Keep({{"x", "", ""}})[0]);
  EXPECT_EQ(different.size(), 100U);
}

TEST(StoreTest, TheOldestRunMakesRoom) {
  Store store({.bytes = 10, .items = 3});
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

TEST(MimeTypeTest, BytesCountMoreThanNames) {
  EXPECT_EQ(MimeTypeOf("x.txt", "\x89PNG\r\n\x1a\n..."), "image/png");
  EXPECT_EQ(MimeTypeOf("x", "\xff\xd8\xff\xe0"), "image/jpeg");
  EXPECT_EQ(MimeTypeOf("x", "RIFF1234WEBPVP8"), "image/webp");
  EXPECT_EQ(MimeTypeOf("x.png", "no picture"), "text/plain");
  EXPECT_EQ(MimeTypeOf("x.csv", "a,b\n"), "text/csv");
  EXPECT_EQ(MimeTypeOf("x.csv", std::string("\0", 1)), "application/octet-stream");
  EXPECT_EQ(MimeTypeOf("x.svg", "<svg/>"), "image/svg+xml");
  EXPECT_FALSE(IsImage("image/svg+xml")) << "models cannot look at those";
  EXPECT_TRUE(IsImage("image/webp"));
}

}  // namespace
}  // namespace igloo::tools
