#include "watch/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::watch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class PathsTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return top_.path() + "/" + name; }
  void Write(const std::string& name, std::string_view text = "text") const {
    std::ofstream(Path(name)) << text;
  }
  void Replace(const std::string& name) const {
    Write(name + ".new", "other");
    fs::rename(Path(name + ".new"), Path(name));
  }
  Paths Watch(std::vector<Watched> watched, std::size_t most = Paths::kMostDirectories) const {
    return Paths::Make(std::move(watched), most).value();
  }
  Paths WatchFile(const std::string& name) const { return Watch({{.path = Path(name)}}); }
  Paths WatchEach(const std::string& name) const {
    return Watch({{.path = Path(name), .in_each = "metadata.json"}});
  }
  /// Each step changes what is watched, and nothing more happens afterwards.
  static void ExpectChanges(Paths& paths, const std::vector<std::function<void()>>& steps) {
    EXPECT_FALSE(paths.Drain()) << "nothing has happened yet";
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i]();
      EXPECT_TRUE(paths.Drain()) << "step " << i;
      EXPECT_FALSE(paths.Drain()) << "step " << i;
    }
  }

  TempDir top_ = TempDir::Make(fs::canonical(igloo::testing::TempParent()).string()).value();
};

TEST_F(PathsTest, AFileThatIsWrittenReplacedRemovedOrMadeHasChanged) {
  Write("a");
  Paths paths = WatchFile("a");
  ExpectChanges(paths, {[&] { Write("a"); }, [&] { Replace("a"); }, [&] { Write("a"); },
                        [&] { fs::remove(Path("a")); }, [&] { Write("a"); },
                        [&] { fs::permissions(Path("a"), fs::perms(0640)); },
                        [&] { fs::rename(Path("a"), Path("b")); }});
}

TEST_F(PathsTest, AnOpenFileIsWatchedWhileItIsWritten) {
  std::ofstream file(Path("a"));
  Paths paths = WatchFile("a");
  ExpectChanges(paths, {[&] { file << "x" << std::flush; }, [&] { file << "y" << std::flush; }});
}

TEST_F(PathsTest, OtherFilesDoNotMatter) {
  Write("a");
  Paths paths = WatchFile("a");
  Write("b");
  Replace("b");
  fs::create_directory(Path("c"));
  fs::remove(Path("b"));
  EXPECT_FALSE(paths.Drain());
}

TEST_F(PathsTest, DirectoriesMayComeAndGo) {
  Paths paths = WatchFile("x/y/a");
  ExpectChanges(paths, {[&] { fs::create_directories(Path("x/y")); }, [&] { Write("x/y/a"); },
                        [&] { Write("x/y/a"); }, [&] { fs::remove_all(Path("x")); },
                        [&] {
                          fs::create_directories(Path("x/y"));
                          Write("x/y/a");
                        },
                        [&] { Replace("x/y/a"); }, [&] { fs::rename(Path("x"), Path("z")); },
                        [&] { fs::rename(Path("z"), Path("x")); }, [&] { Write("x/y/a"); }});
}

TEST_F(PathsTest, ADirectoryThatWasMovedAwayDoesNotMatterAnyMore) {
  fs::create_directories(Path("x"));
  Write("x/a");
  Paths paths = WatchFile("x/a");
  fs::rename(Path("x"), Path("z"));
  EXPECT_TRUE(paths.Drain());
  Write("z/a");
  EXPECT_FALSE(paths.Drain());
}

TEST_F(PathsTest, AFileBehindLinksIsWatchedWhereItIsAndWhereTheLinksAre) {
  fs::create_directories(Path("real/deep"));
  Write("real/deep/a");
  Write("real/b");
  fs::create_symlink("real/deep", Path("directory"));
  fs::create_symlink("directory/../deep/a", Path("real/link"));
  fs::create_symlink(Path("real/link"), Path("a"));
  // real/link leads through real/directory, which does not exist yet.
  Paths paths = WatchFile("a");
  ExpectChanges(paths, {[&] { fs::create_symlink("../real/deep", Path("real/directory")); },
                        [&] { Write("real/deep/a"); }, [&] { Replace("real/deep/a"); },
                        [&] {
                          fs::create_symlink("real/b", Path("a.new"));
                          fs::rename(Path("a.new"), Path("a"));
                        },
                        [&] { Write("real/b"); }});
  Write("real/deep/a");
  EXPECT_FALSE(paths.Drain()) << "the link leads elsewhere now";
}

TEST_F(PathsTest, LinksThatGoRoundInACircleEnd) {
  fs::create_symlink("b", Path("a"));
  fs::create_symlink("a", Path("b"));
  Paths paths = WatchFile("a");
  EXPECT_FALSE(paths.Drain());
  fs::remove(Path("b"));
  Write("b");
  EXPECT_TRUE(paths.Drain());
}

TEST_F(PathsTest, TheFileInEachDirectoryOfADirectoryIsWatched) {
  fs::create_directories(Path("all/one"));
  Write("all/one/metadata.json");
  Paths paths = WatchEach("all");
  ExpectChanges(
      paths,
      {[&] { Write("all/one/metadata.json"); }, [&] { Replace("all/one/metadata.json"); },
       [&] { fs::create_directory(Path("all/two")); }, [&] { Write("all/two/metadata.json"); },
       [&] { Write("all/two/metadata.json"); }, [&] { fs::remove_all(Path("all/one")); },
       [&] { fs::rename(Path("all/two"), Path("all/three")); },
       [&] { Write("all/three/metadata.json"); }});
  Write("all/three/other");
  fs::create_directory(Path("all/three/deep"));
  EXPECT_FALSE(paths.Drain());
}

TEST_F(PathsTest, ADirectoryOfDirectoriesMayBeMadeLater) {
  Paths paths = WatchEach("x/all");
  ExpectChanges(paths,
                {[&] {
                   fs::create_directories(Path("x/all/one"));
                   Write("x/all/one/metadata.json");
                 },
                 [&] { Write("x/all/one/metadata.json"); }, [&] { fs::remove_all(Path("x")); },
                 [&] { fs::create_directories(Path("x/all")); },
                 [&] { fs::create_directories(Path("x/all/one")); },
                 [&] { Write("x/all/one/metadata.json"); }});
}

TEST_F(PathsTest, EntriesMayBeLinks) {
  fs::create_directories(Path("all"));
  fs::create_directories(Path("store/1"));
  Write("store/1/metadata.json");
  fs::create_symlink("../store/1", Path("all/one"));
  Paths paths = WatchEach("all");
  ExpectChanges(paths,
                {[&] { Write("store/1/metadata.json"); }, [&] { fs::remove(Path("all/one")); }});
  Write("store/1/metadata.json");
  EXPECT_FALSE(paths.Drain());
}

TEST_F(PathsTest, OtherPathsCanBeSet) {
  Write("a");
  Paths paths = WatchFile("a");
  Write("a");
  paths.Set({{.path = Path("a")}, {.path = Path("b")}});
  EXPECT_TRUE(paths.Drain()) << "what changed before is not forgotten";
  Write("b");
  EXPECT_TRUE(paths.Drain());
  paths.Set({{.path = Path("b")}});
  Write("a");
  EXPECT_FALSE(paths.Drain());
}

TEST_F(PathsTest, TheKernelWatchesNoMoreThanAsked) {
  for (int i = 0; i < 20; ++i) fs::create_directories(Path("all/" + std::to_string(i)));
  const std::vector<Watched> watched = {{.path = Path("a")},
                                        {.path = Path("all"), .in_each = "metadata.json"}};
  Paths all = Watch(watched);
  EXPECT_EQ(all.incomplete(), std::nullopt);
  const std::size_t above = all.directories() - 20;
  Paths some = Watch(watched, above + 5);
  EXPECT_EQ(some.directories(), above + 5);
  ASSERT_TRUE(some.incomplete());
  EXPECT_THAT(some.incomplete()->what, HasSubstr("directories would have to be watched"));
  Write("a");
  EXPECT_TRUE(some.Drain()) << "the rest is watched";
  fs::remove_all(Path("all"));
  EXPECT_TRUE(some.Drain());
  EXPECT_EQ(some.incomplete(), std::nullopt) << "everything is, now";
  EXPECT_EQ(some.directories(), above - 1);
}

TEST_F(PathsTest, ALostEventIsAChange) {
  std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
  int most = 0;
  ASSERT_TRUE(limit >> most);
  Write("b");
  Write("c");
  Paths paths = WatchFile("a");
  // Events that are equal to the last one are one event, so two take turns.
  for (int i = 0; i <= most; ++i) {
    ASSERT_EQ(::chmod(Path("b").c_str(), 0600), 0);
    ASSERT_EQ(::chmod(Path("c").c_str(), 0600), 0);
  }
  EXPECT_TRUE(paths.Drain());
}

}  // namespace
}  // namespace igloo::watch
