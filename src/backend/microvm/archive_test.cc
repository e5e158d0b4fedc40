#include "backend/microvm/archive.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/spawn.h"

namespace igloo::backend::microvm {
namespace {

/// A number of eight digits in the header of the entry at `at`.
unsigned long Number(const std::string& bytes, std::size_t at, unsigned which) {
  return std::stoul(bytes.substr(at + 6 + 8 * which, 8), nullptr, 16);
}

TEST(Archive, HasAHeaderANameAndAContentForEachEntryAllAlignedToFour) {
  Archive archive;
  archive.AddDirectory("dev");
  archive.AddCharacterDevice("dev/console", 5, 1);
  archive.AddFile("init", "hello");
  const std::string bytes = std::move(archive).Finish();
  constexpr unsigned kMode = 1, kSize = 6, kMajor = 9, kMinor = 10, kNameSize = 11;
  struct Expected {
    std::string name;
    unsigned long mode, size, major, minor;
    std::string content;
  };
  const Expected expected[] = {{"dev", 0040755, 0, 0, 0, ""},
                               {"dev/console", 0020600, 0, 5, 1, ""},
                               {"init", 0100755, 5, 0, 0, "hello"},
                               {"TRAILER!!!", 0, 0, 0, 0, ""}};
  std::size_t at = 0;
  for (const Expected& each : expected) {
    ASSERT_EQ(bytes.substr(at, 6), "070701") << each.name;
    EXPECT_EQ(Number(bytes, at, kMode), each.mode);
    EXPECT_EQ(Number(bytes, at, kSize), each.size);
    EXPECT_EQ(Number(bytes, at, kMajor), each.major);
    EXPECT_EQ(Number(bytes, at, kMinor), each.minor);
    ASSERT_EQ(Number(bytes, at, kNameSize), each.name.size() + 1);
    EXPECT_EQ(bytes.substr(at + 110, each.name.size() + 1), each.name + '\0');
    at = (at + 110 + each.name.size() + 1 + 3) / 4 * 4;
    EXPECT_EQ(bytes.substr(at, each.content.size()), each.content);
    at = (at + each.content.size() + 3) / 4 * 4;
  }
  EXPECT_EQ(at, bytes.size());
}

}  // namespace
}  // namespace igloo::backend::microvm
