#include "tools/store.h"

#include <gmock/gmock.h>

#include <set>

#include "session/leftovers.h"

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

TEST(StoreTest, EverythingThatIsKeptCanBeRead) {
  Store store;
  const auto uris = store.Keep({{"a", "text/plain", std::string(1U << 20, '"')},
                                {"b", "text/plain", std::string(4U << 20, '"')}});
  EXPECT_TRUE(std::holds_alternative<std::string>(store.Read(uris[0])->body));
  const auto large = store.Read(uris[1]);
  ASSERT_TRUE(std::holds_alternative<mcp::Blob>(large->body)) << "as text it has twice the bytes";
  EXPECT_EQ(std::get<mcp::Blob>(large->body).bytes.size(), 4U << 20);
}

TEST(StoreTest, LongNamesAreCutInTheirUris) {
  Store store;
  for (std::size_t shift = 0; shift < 3; ++shift) {
    const std::string name = "files/" + std::string(shift, 'x') + std::string(3000, '\x01');
    const auto uris = store.Keep({{name + "a", "", "1"}, {name + "b", "", "2"}});
    EXPECT_LT(uris[0].size(), 300U);
    EXPECT_THAT(uris[0], ::testing::EndsWith("%01~0")) << "no escape is cut";
    EXPECT_EQ(std::get<std::string>(store.Read(uris[0])->body), "1");
    EXPECT_EQ(std::get<std::string>(store.Read(uris[1])->body), "2");
    EXPECT_LT(store.List()[0].name.size(), 300U);
  }
}

TEST(StoreTest, TheGenerationTellsOfEveryChange) {
  Store store({.bytes = 4, .items = 3});
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

TEST(MimeTypeTest, BytesCountMoreThanNames) {
  const auto type = [](std::string_view path, std::string_view bytes) {
    return MimeTypeOf(path, bytes, session::IsPlainText(bytes));
  };
  EXPECT_EQ(type("x.txt", "\x89PNG\r\n\x1a\n..."), "image/png");
  EXPECT_EQ(type("x", "\xff\xd8\xff\xe0"), "image/jpeg");
  EXPECT_EQ(type("x", "RIFF1234WEBPVP8"), "image/webp");
  EXPECT_EQ(type("x.png", "no picture"), "text/plain");
  EXPECT_EQ(type("x.csv", "a,b\n"), "text/csv");
  EXPECT_EQ(type("x.csv", std::string("\0", 1)), "application/octet-stream");
  EXPECT_EQ(type("x.svg", "<svg/>"), "image/svg+xml");
}

}  // namespace
}  // namespace igloo::tools
