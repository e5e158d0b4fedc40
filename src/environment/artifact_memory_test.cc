// Lists that do not read again what cannot have changed, and do read all else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "environment/artifact.h"
#include "environment/artifact_testing.h"
#include "support/igloo.h"

namespace igloo::environment {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
namespace fs = std::filesystem;

/// Forty artifacts in a store, and links to them.
class ListArtifactsTest : public ::testing::Test {
 protected:
  static constexpr int kMany = 40;

  std::string InStore(int number) const {
    std::string hash = std::to_string(number);
    hash.insert(0, 32 - hash.size(), 'a');
    return store_ + "/nix/store/" + hash + "-sandbox";
  }
  static void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
  }
  static void WriteArtifact(const std::string& directory, const std::string& name,
                            const std::string& description) {
    Write(directory + "/metadata.json",
          R"({"name":")" + name + R"(","description":")" + description + R"(","aliases":["also-)" +
              name + R"("],"interpreter_type":"python","closure":)" + Closure() + "}");
  }
  /// What nobody does with a store: it tells whether a file was read.
  void Falsify() const {
    for (int i = 0; i < kMany; ++i) WriteArtifact(InStore(i), Name(i), "false");
  }
  static std::string Name(int number) { return "artifact-" + std::to_string(number); }

  static struct timespec ChangeOf(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_ctim;
  }
  /// Goes on until the clock of the file system has, too: a list does not see changes of the very
  /// tick in which it was told that it is much later.
  template <class Change>
  static void Until(const std::string& directory, Change change) {
    const struct timespec before = ChangeOf(directory);
    const auto same = [&] {
      const struct timespec now = ChangeOf(directory);
      return now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec;
    };
    do {
      change();
    } while (same());
  }

  ArtifactScan List(std::chrono::hours later = std::chrono::hours(1)) const {
    return ListArtifacts({place_}, {},
                         {.file = memory_, .now = std::chrono::system_clock::now() + later});
  }
  static std::vector<std::string> Descriptions(const ArtifactScan& scan) {
    std::vector<std::string> out;
    for (const Artifact& each : scan.found) out.push_back(each.metadata.description);
    return out;
  }
  static std::vector<std::string> Names(const ArtifactScan& scan) {
    std::vector<std::string> out;
    for (const Artifact& each : scan.found) out.push_back(each.metadata.name);
    return out;
  }

  void SetUp() override {
    fs::create_directories(place_);
    for (int i = 0; i < kMany; ++i) {
      WriteArtifact(InStore(i), Name(i), "true");
      fs::create_directory_symlink(InStore(i), place_ + "/" + Name(i));
    }
  }

  TempDir directory_ = TempDir::Make(igloo::testing::TempParent()).value();
  std::string place_ = directory_.path() + "/sandboxes", store_ = directory_.path() + "/prefix",
              memory_ = directory_.path() + "/state/igloo/listed";
};

/// As Nix itself collects them: the links are relative, and the place is a link into the store.
TEST_F(ListArtifactsTest, LinksMayBeRelativeToAPlaceInTheStore) {
  const std::string bundle = store_ + "/nix/store/" + std::string(32, 'b') + "-sandboxes";
  fs::create_directories(bundle);
  for (int i = 0; i < kMany; ++i) {
    fs::create_directory_symlink("../" + fs::path(InStore(i)).filename().native(),
                                 bundle + "/" + Name(i));
  }
  fs::remove_all(place_);
  fs::create_directory_symlink(bundle, place_);
  ASSERT_THAT(List().found, SizeIs(kMany));
  Falsify();
  EXPECT_THAT(Descriptions(List()), ::testing::Each("true"));
}

TEST_F(ListArtifactsTest, ReadsWhatLiesInAStoreOnce) {
  const ArtifactScan read = List();
  ASSERT_THAT(read.found, SizeIs(kMany));
  Falsify();
  const ArtifactScan listed = List();
  ASSERT_THAT(listed.found, SizeIs(kMany));
  EXPECT_TRUE(listed.problems.empty());
  for (std::size_t i = 0; i < read.found.size(); ++i) {
    EXPECT_EQ(listed.found[i].directory, read.found[i].directory);
    EXPECT_EQ(listed.found[i].metadata.name, read.found[i].metadata.name);
    EXPECT_EQ(listed.found[i].metadata.aliases, read.found[i].metadata.aliases);
    EXPECT_EQ(listed.found[i].metadata.description, "true");
    EXPECT_FALSE(listed.found[i].unavailable);
  }
  struct stat info{};
  ASSERT_EQ(::stat(memory_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(ListArtifactsTest, SeesWhatIsAddedRemovedAndReplaced) {
  List();
  WriteArtifact(directory_.path() + "/elsewhere", "new", "new");
  Until(place_, [&] {
    fs::remove(place_ + "/added");
    fs::create_directory_symlink(directory_.path() + "/elsewhere", place_ + "/added");
  });
  EXPECT_THAT(Names(List()), Contains("new"));
  Until(place_, [&] {
    fs::remove(place_ + "/added");
    fs::create_directory_symlink(InStore(0), place_ + "/added");
  });
  const ArtifactScan twice = List();
  EXPECT_THAT(Names(twice), Not(Contains("new")));
  ASSERT_THAT(twice.problems, SizeIs(1));
  EXPECT_THAT(twice.problems[0].error.what, HasSubstr("already the name"));
  const ArtifactScan again = List();  // from the memory
  ASSERT_THAT(again.problems, SizeIs(1));
  EXPECT_EQ(again.problems[0].error.what, twice.problems[0].error.what);
  Until(place_, [&] { fs::remove(place_ + "/added"); });
  EXPECT_TRUE(List().problems.empty());
}

TEST_F(ListArtifactsTest, SeesWhatAStoreHasLost) {
  List();
  Until(store_ + "/nix/store", [&] {
    WriteArtifact(InStore(0), Name(0), "true");
    fs::remove_all(InStore(0));
  });
  const ArtifactScan scan = List();
  EXPECT_THAT(Names(scan), Not(Contains(Name(0))));
  ASSERT_THAT(scan.problems, SizeIs(1));
  EXPECT_THAT(scan.problems[0].directory, HasSubstr(Name(0)));
  ASSERT_THAT(List().problems, SizeIs(1));  // from the memory
}

TEST_F(ListArtifactsTest, ReadsAgainWhatMayChange) {
  WriteArtifact(directory_.path() + "/mutable", "mutable", "first");
  fs::create_directory_symlink(directory_.path() + "/mutable", place_ + "/mutable");
  WriteArtifact(place_ + "/inside", "inside", "first");
  // It leads into the store by way of a link that may change.
  fs::create_directory_symlink(InStore(0), directory_.path() + "/result");
  fs::remove(place_ + "/" + Name(0));
  fs::create_directory_symlink(directory_.path() + "/result", place_ + "/" + Name(0));
  EXPECT_THAT(Descriptions(List()), SizeIs(kMany + 2));
  WriteArtifact(directory_.path() + "/mutable", "mutable", "second");
  WriteArtifact(place_ + "/inside", "inside", "second");
  Falsify();
  std::map<std::string, int> counts;
  for (const std::string& each : Descriptions(List())) ++counts[each];
  const std::map<std::string, int> expected = {{"true", kMany - 1}, {"second", 2}, {"false", 1}};
  EXPECT_EQ(counts, expected);
}

TEST_F(ListArtifactsTest, ReadsAnArtifactThatIsOpened) {
  Write(store_ + kPython + "/bin/python3", "");
  Write(store_ + kBash + "/bin/bash", "");
  List();
  const ArtifactScan listed = List();
  ASSERT_THAT(listed.found, SizeIs(kMany));
  ASSERT_TRUE(listed.found[0].remembered);
  const auto opened = OpenArtifact(listed.found[0]);
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_THAT(opened->interpreter, ::testing::ElementsAre(kPython + "/bin/python3"));
}

TEST_F(ListArtifactsTest, RemembersNothingOfDirectoriesThatHaveJustChanged) {
  List(std::chrono::hours(-1));
  EXPECT_FALSE(fs::exists(memory_));
}

TEST_F(ListArtifactsTest, DoesNotBotherWithFew) {
  for (int i = 10; i < kMany; ++i) fs::remove(place_ + "/" + Name(i));
  EXPECT_THAT(List().found, SizeIs(10));
  EXPECT_FALSE(fs::exists(memory_));
}

TEST_F(ListArtifactsTest, BelievesNoMemoryThatIsNotWhole) {
  List();
  const std::string whole = ReadFile(memory_, 1U << 20).value();
  Falsify();
  ASSERT_THAT(Descriptions(List()), Contains("true"));
  const auto believes = [&](const std::string& text) {
    Write(memory_, text);
    EXPECT_EQ(::chmod(memory_.c_str(), 0600), 0);
    const auto descriptions = Descriptions(List());
    EXPECT_THAT(descriptions, SizeIs(kMany));
    return std::ranges::find(descriptions, "true") != descriptions.end();
  };
  EXPECT_TRUE(believes(whole));
  for (std::size_t length = 0; length < whole.size(); length += 61) {
    EXPECT_FALSE(believes(whole.substr(0, length))) << length;
  }
  std::string other = whole;
  other[std::string_view("igloo artifacts ").size()] = '9';
  EXPECT_FALSE(believes(other));
  std::string name = whole;  // one that no artifact can have
  name[name.find(std::string("\0artifact-0\0true", 16)) + 1] = '\n';
  EXPECT_FALSE(believes(name));
}

TEST_F(ListArtifactsTest, BelievesNoMemoryThatOthersCanWrite) {
  List();
  Falsify();
  ASSERT_THAT(Descriptions(List()), Contains("true"));
  ASSERT_EQ(::chmod(memory_.c_str(), 0620), 0);
  EXPECT_THAT(Descriptions(List()), Not(Contains("true")));
}

TEST_F(ListArtifactsTest, BelievesNoMemoryBehindALink) {
  List();
  Falsify();
  fs::rename(memory_, memory_ + "-real");
  fs::create_symlink(memory_ + "-real", memory_);
  EXPECT_THAT(Descriptions(List()), Not(Contains("true")));
}

}  // namespace
}  // namespace igloo::environment
