#include "clients/apply.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/temp_dir.h"

namespace igloo::clients {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class ApplyTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  Order OrderFor(std::string_view client, Action action) const {
    return {.client = FindClient(client).value(),
            .action = action,
            .server = {.name = "igloo", .command = "/igloo", .args = {"mcp"}},
            .file = Path("a/b/f")};
  }
  Result<Done> Run(const Order& order) const { return Apply(order, store_, check_); }
  std::size_t Entries(const std::string& name) const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(Path(name)), {}));
  }

  Check check_ = [](const std::string&, std::string_view) { return Result<void>(); };

 private:
  TempDir dir_ = TempDir::Make(::testing::TempDir()).value();
  UndoStore store_{dir_.path() + "/state"};
};

TEST_F(ApplyTest, AFileThatIglooMadeGoesWithItsDirectories) {
  for (const Client& client : kClients) {
    const auto made = Run(OrderFor(client.name, Action::kInstall));
    ASSERT_TRUE(made) << made.error().what;
    EXPECT_TRUE(made->made_file);
    EXPECT_EQ(made->backup, "");
    const auto removed = Run(OrderFor(client.name, Action::kRemove));
    ASSERT_TRUE(removed) << removed.error().what;
    EXPECT_TRUE(removed->deleted_file);
    EXPECT_FALSE(fs::exists(Path("a")));
    EXPECT_EQ(Entries("state"), 0U) << "nothing to remember";
  }
}

TEST_F(ApplyTest, AFileThatWasThereStaysEvenEmpty) {
  fs::create_directories(Path("a/b"));
  for (const Client& client : kClients) {
    ASSERT_TRUE(ReplaceFile(Path("a/b/f"), ""));
    ASSERT_TRUE(Run(OrderFor(client.name, Action::kInstall)));
    EXPECT_NE(ReadFile(Path("a/b/f"), 1000), "");
    const auto removed = Run(OrderFor(client.name, Action::kRemove));
    EXPECT_FALSE(removed->deleted_file);
    EXPECT_EQ(ReadFile(Path("a/b/f"), 1000), "");
  }
}

TEST_F(ApplyTest, EveryChangeHasOneBackupAndNoOtherCallHas) {
  fs::create_directories(Path("a/b"));
  ASSERT_TRUE(ReplaceFile(Path("a/b/f"), "{}\n"));
  const auto installed = Run(OrderFor("cursor", Action::kInstall));
  EXPECT_EQ(ReadFile(installed->backup, 1000), "{}\n");
  EXPECT_EQ(Run(OrderFor("cursor", Action::kInstall))->backup, "");
  EXPECT_EQ(Entries("a/b"), 2U);
  const std::string with = ReadFile(Path("a/b/f"), 1000).value();
  EXPECT_EQ(ReadFile(Run(OrderFor("cursor", Action::kRemove))->backup, 1000), with);
  EXPECT_EQ(Run(OrderFor("cursor", Action::kRemove))->edit.change, Change::kNone);
  EXPECT_EQ(Entries("a/b"), 3U);
  EXPECT_EQ(ReadFile(Path("a/b/f"), 1000), "{}\n");
}

TEST_F(ApplyTest, ShowingChangesNothing) {
  Order order = OrderFor("codex", Action::kInstall);
  order.dry_run = true;
  const auto shown = Run(order);
  EXPECT_EQ(shown->edit.change, Change::kAdded);
  EXPECT_TRUE(shown->made_file);
  EXPECT_FALSE(fs::exists(Path("a")));
  EXPECT_FALSE(fs::exists(Path("state")));
}

TEST_F(ApplyTest, WhatAParserRefusesIsNotTouchedAndNotWritten) {
  fs::create_directories(Path("a/b"));
  ASSERT_TRUE(ReplaceFile(Path("a/b/f"), "a = 1\n"));
  check_ = [](const std::string&, std::string_view) {
    return Result<void>(Fail(Errc::kFailedPrecondition, "broken"));
  };
  EXPECT_EQ(Run(OrderFor("codex", Action::kInstall)).error().what, "broken");
  check_ = [](const std::string&, std::string_view text) {
    return text == "a = 1\n" ? Result<void>() : Fail(Errc::kFailedPrecondition, "broken");
  };
  EXPECT_THAT(Run(OrderFor("codex", Action::kInstall)).error().what,
              HasSubstr("cannot change safely"));
  EXPECT_EQ(ReadFile(Path("a/b/f"), 1000), "a = 1\n");
  EXPECT_EQ(Entries("a/b"), 1U);
}

TEST_F(ApplyTest, AFailureLeavesNothingBehind) {
  // The state's place is a file: nothing can be remembered, so nothing is changed.
  ASSERT_TRUE(ReplaceFile(Path("state"), ""));
  EXPECT_FALSE(Run(OrderFor("cursor", Action::kInstall)));
  EXPECT_FALSE(fs::exists(Path("a")));
  fs::create_directories(Path("a/b"));
  ASSERT_TRUE(ReplaceFile(Path("a/b/f"), "{}"));
  EXPECT_FALSE(Run(OrderFor("cursor", Action::kInstall)));
  EXPECT_EQ(ReadFile(Path("a/b/f"), 1000), "{}");
  EXPECT_EQ(Entries("a/b"), 1U);
}

TEST_F(ApplyTest, AForcedBlockIsNotTakenBackToWhatNobodyKnows) {
  fs::create_directories(Path("a/b"));
  ASSERT_TRUE(ReplaceFile(Path("a/b/f"), "{\"mcpServers\": {\"igloo\": {\"url\": \"x\"}}}"));
  Order order = OrderFor("cursor", Action::kInstall);
  EXPECT_EQ(Run(order)->edit.change, Change::kForeign);
  order.foreign = Foreign::kReplace;
  EXPECT_EQ(Run(order)->edit.change, Change::kReplaced);
  EXPECT_EQ(Run(OrderFor("cursor", Action::kRemove))->edit.change, Change::kRemoved);
  EXPECT_EQ(ReadFile(Path("a/b/f"), 1000), "{\"mcpServers\": {}}");
}

}  // namespace
}  // namespace igloo::clients
