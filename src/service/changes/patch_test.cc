#include "service/changes/patch.h"

#include "service/changes/git_objects.h"
#include "service/changes/testing.h"

namespace igloo::service::changes {
namespace {

using testing::ChangesTest;
using ::testing::HasSubstr;

class PatchTest : public ChangesTest {
 protected:
  std::string Patch() const {
    const Contents contents = Open();
    std::string text;
    for (const Change& each : Read(contents).changes) {
      const auto patch = PatchOf(contents, each);
      EXPECT_TRUE(patch) << patch.error().what;
      text += patch.value_or("");
    }
    return text;
  }
  int GitApply(const std::string& patch) const {
    WriteTo(directory_.path() + "/patch", patch);
    const std::string command =
        "cd '" + project_ + "' && HOME=/nonexistent git init -q . && git apply -v ../patch";
    return std::system(command.c_str());
  }
};

TEST(GitObjectsTest, NamesAreGits) {
  EXPECT_EQ(BlobName(""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(BlobName("hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
}

TEST(GitObjectsTest, PathsAreQuotedAsGitDoes) {
  EXPECT_EQ(PatchPath("a/", "plain name"), "a/plain name");
  EXPECT_EQ(PatchPath("a/", "new\nline\"\\\xc3"), "\"a/new\\nline\\\"\\\\\\303\"");
}

/// The very tree that igloo would make.
TEST_F(PatchTest, GitAppliesIt) {
  std::string lines;
  for (int i = 0; i < 60; ++i) lines += "line " + std::to_string(i) + "\n";
  std::string binary;
  for (int i = 0; i < 200'000; ++i) binary += static_cast<char>(i * 7 + i / 256);
  Host("text", lines);
  Host("no newline", "a\nb");
  Host("binary", binary);
  Host("deleted", "something else entirely, 1\n");
  Host("old/name", lines + "renamed\n");
  Host("script", "#!/bin/sh\n");
  Host("becomes link", "a file\n");
  BeginSet();
  std::string edited = lines;
  edited.replace(edited.find("line 5\n"), 7, "LINE 5\nmore\n");
  edited.erase(edited.find("line 44\n"), 8);
  Inside("text", edited);
  Inside("no newline", "a\nb\nc");
  Inside("binary", binary.substr(100) + "end");
  Inside("new binary", std::string("\0\1\2", 3));
  Inside("empty", "");
  Inside("dir/odd\nname\t\"", "odd\n");
  Whiteout("deleted");
  Whiteout("old");
  Inside("new/name", lines + "renamed, too\n");
  Inside("script", "#!/bin/sh\n");
  ::chmod((upper_ + "/script").c_str(), 0755);
  ASSERT_EQ(::symlink("target", (upper_ + "/becomes link").c_str()), 0);
  const std::string patch = Patch();
  EXPECT_THAT(patch, HasSubstr("GIT binary patch\nliteral "));
  EXPECT_THAT(patch, HasSubstr("rename from old/name\nrename to new/name\n"));
  EXPECT_THAT(patch, HasSubstr("old mode 100644\nnew mode 100755\n"));
  ASSERT_EQ(GitApply(patch), 0) << patch.substr(0, 2000);
  std::filesystem::remove_all(project_ + "/.git");
  // What igloo would write is there already.
  const Outcome outcome = ApplyAll();
  EXPECT_THAT(outcome.applied, ::testing::IsEmpty());
  EXPECT_TRUE(outcome.complete());
  EXPECT_EQ(OnHost("binary"), binary.substr(100) + "end");
}

TEST_F(PatchTest, StatCountsLines) {
  Host("text", "a\nb\nc\n");
  BeginSet();
  Inside("text", "a\nx\ny\nc\n");
  const Contents contents = Open();
  const auto stat = StatOf(contents, Read(contents).changes.at(0));
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->added, 2U);
  EXPECT_EQ(stat->removed, 1U);
}

TEST_F(PatchTest, WithoutTheBasesContentThereIsNoPatch) {
  Host("text", "a\nb\nc\n");
  BeginSet();
  Inside("text", "a\nx\ny\nc\n");
  Host("text", "changed on the host\n");
  const Contents contents = Open();
  EXPECT_THAT(PatchOf(contents, Read(contents).changes.at(0)).error().what,
              HasSubstr("nobody knows any more what 'text' was"));
}

}  // namespace
}  // namespace igloo::service::changes
