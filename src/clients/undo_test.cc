#include "clients/undo.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/replace_file.h"
#include "base/temp_dir.h"

namespace igloo::clients {
namespace {

const Undo kUndo{.created_file = true,
                 .created_directories = 2,
                 .created_levels = 1,
                 .comma = true,
                 .before = "\r\n\t\"igloo\": ",
                 .after = "\n}"};

TEST(UndoTest, ReadsWhatItWrites) {
  EXPECT_EQ(DecodeUndo(EncodeUndo(kUndo)), kUndo);
  EXPECT_EQ(DecodeUndo(EncodeUndo({})), Undo{});
}

TEST(UndoTest, NothingElseIsRead) {
  const std::string text = EncodeUndo(kUndo);
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    EXPECT_FALSE(DecodeUndo(text.substr(0, i))) << i;
  }
  for (const char* wrong : {"", "{}", "[]", "1"}) EXPECT_FALSE(DecodeUndo(wrong));
  std::string other = text;
  other.replace(other.find("comma"), 5, "coma_");
  EXPECT_FALSE(DecodeUndo(other));
}

TEST(UndoStoreTest, RemembersByFileAndName) {
  const TempDir dir = TempDir::Make(::testing::TempDir()).value();
  const UndoStore store(dir.path() + "/a/b");
  EXPECT_FALSE(store.Find("/f", "igloo"));
  ASSERT_TRUE(store.Put("/f", "igloo", kUndo));
  EXPECT_EQ(store.Find("/f", "igloo"), kUndo);
  EXPECT_FALSE(store.Find("/f", "other"));
  EXPECT_FALSE(store.Find("/g", "igloo"));
  store.Drop("/f", "igloo");
  EXPECT_FALSE(store.Find("/f", "igloo"));
  EXPECT_TRUE(std::filesystem::is_empty(dir.path() + "/a/b"));
}

TEST(UndoStoreTest, WithoutAPlaceNothingIsKnown) {
  const UndoStore store("");
  EXPECT_TRUE(store.Put("/f", "igloo", kUndo));
  EXPECT_FALSE(store.Find("/f", "igloo"));
  store.Drop("/f", "igloo");
}

}  // namespace
}  // namespace igloo::clients
