#include "config/load.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/replace_file.h"
#include "base/temp_dir.h"

namespace igloo::config {
namespace {

using ::testing::HasSubstr;

class LoadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::Make(std::filesystem::canonical(::testing::TempDir()).string());
    ASSERT_TRUE(made) << made.error().what;
    dir_.emplace(*std::move(made));
  }
  std::string Path(const std::string& name) const { return dir_->path() + "/" + name; }
  std::string Write(const std::string& name, std::string_view text) const {
    EXPECT_TRUE(ReplaceFile(Path(name), text));
    return Path(name);
  }
  static Result<Config> LoadFile(const std::string& path, Reason reason = Reason::kFlag) {
    return Load({path, reason}, {.home = "/home/ada"}, {});
  }

 private:
  std::optional<TempDir> dir_;
};

TEST(ChooseFileTest, GoesFromTheNamedToTheUsual) {
  Variables variables{.igloo_config = "/v/c.toml", .xdg_config_home = "/x", .home = "/h"};
  EXPECT_EQ(ChooseFile("f.toml", variables), (Choice{"f.toml", Reason::kFlag}));
  EXPECT_EQ(ChooseFile({}, variables), (Choice{"/v/c.toml", Reason::kVariable}));
  variables.igloo_config.clear();
  EXPECT_EQ(ChooseFile({}, variables), (Choice{"/x/igloo/config.toml", Reason::kUser}));
  variables.xdg_config_home = "relative";
  EXPECT_EQ(ChooseFile({}, variables), (Choice{"/h/.config/igloo/config.toml", Reason::kUser}))
      << "the specification says to ignore it";
  variables.xdg_config_home.clear();
  EXPECT_EQ(ChooseFile({}, variables), (Choice{"/h/.config/igloo/config.toml", Reason::kUser}));
  EXPECT_EQ(ChooseFile({}, {}), (Choice{"", Reason::kNone}));
}

TEST(StateDirectoryTest, FollowsXdg) {
  EXPECT_EQ(StateDirectory({.xdg_state_home = "/s", .home = "/h"}), "/s/igloo");
  EXPECT_EQ(StateDirectory({.xdg_state_home = "s", .home = "/h"}), "/h/.local/state/igloo");
  EXPECT_EQ(StateDirectory({}), "");
}

TEST_F(LoadTest, ReadsAFileAndItsPathsFromItsOwnPlace) {
  const std::string path = Write("c.toml", "[project]\npath = 'app'\n");
  const auto config = LoadFile(path);
  ASSERT_TRUE(config) << config.error().what;
  EXPECT_EQ(config->file, path);
  EXPECT_EQ(config->project.path, Path("app"));
}

TEST_F(LoadTest, OnlyTheUsualFileMayBeMissing) {
  EXPECT_EQ(LoadFile(Path("none"), Reason::kUser), Config{});
  EXPECT_EQ(LoadFile(Path("none/none"), Reason::kUser), Config{});
  EXPECT_EQ(LoadFile("", Reason::kNone), Config{});
  EXPECT_EQ(LoadFile(Path("none")).error(),
            (Error{.code = Errc::kNotFound,
                   .what = "cannot open the configuration '" + Path("none") +
                           "': No such file or directory",
                   .hint = "make it from config.example.toml",
                   .sys_errno = ENOENT}));
  EXPECT_THAT(LoadFile(Path("none"), Reason::kVariable).error().what,
              HasSubstr("(named by IGLOO_CONFIG)"));
}

TEST_F(LoadTest, ALinkThatLeadsNowhereIsNoMissingFile) {
  std::filesystem::create_symlink("none", Path("link"));
  EXPECT_EQ(LoadFile(Path("link"), Reason::kUser).error().sys_errno, ENOENT);
}

TEST_F(LoadTest, ADirectoryOfSomebodyElseIsOutOfReachAndSaysSo) {
  std::filesystem::create_directory(Path("closed"));
  Write("closed/c.toml", "[limits]\nprocesses = 3\n");
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0), 0);
  const auto config = LoadFile(Path("closed/c.toml"), Reason::kUser);
  const auto named = LoadFile(Path("closed/c.toml"), Reason::kFlag);
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0700), 0);
  ASSERT_TRUE(config) << config.error().what;
  // Root goes everywhere.
  EXPECT_EQ(config->out_of_reach, ::geteuid() != 0);
  EXPECT_EQ(named.has_value(), ::geteuid() == 0);
}

TEST_F(LoadTest, ADirectoryIsNoConfiguration) {
  std::filesystem::create_directory(Path("d"));
  for (const Reason reason : {Reason::kFlag, Reason::kUser}) {
    EXPECT_EQ(LoadFile(Path("d"), reason).error(),
              (Error{.code = Errc::kInvalidArgument,
                     .what = "the configuration '" + Path("d") + "' is a directory",
                     .hint = "name a file, for example " + Path("d/config.toml")}));
  }
}

TEST_F(LoadTest, APipeIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo(Path("p").c_str(), 0600), 0);
  EXPECT_EQ(LoadFile(Path("p")).error().what,
            "the configuration '" + Path("p") + "' is not a regular file");
  EXPECT_FALSE(LoadFile("/dev/zero"));
}

TEST_F(LoadTest, AnUnreadableFileIsAnErrorAlsoInTheUsualPlace) {
  const std::string path = Write("c.toml", "");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  // Root reads everything; for root the closed door is a name that goes through a file.
  if (::geteuid() == 0) {
    std::filesystem::create_symlink("loop", Path("loop"));
    EXPECT_EQ(LoadFile(Path("loop"), Reason::kUser).error().sys_errno, ELOOP);
    return;
  }
  EXPECT_EQ(LoadFile(path, Reason::kUser).error(),
            (Error{.code = Errc::kPermissionDenied,
                   .what = "cannot open the configuration '" + path + "': Permission denied",
                   .hint = "let yourself read it: chmod u+r " + path,
                   .sys_errno = EACCES}));
}

TEST_F(LoadTest, AHugeFileIsRefusedWithoutBeingRead) {
  const std::string path = Write("c.toml", "");
  ASSERT_EQ(::truncate(path.c_str(), 100'000'000), 0);
  EXPECT_EQ(LoadFile(path).error(),
            (Error{.code = Errc::kExhausted,
                   .what = "the configuration '" + path + "' is larger than 1 MB",
                   .hint = "is it the right file?"}));
  ASSERT_TRUE(ReplaceFile(path, std::string(kMaxFile, '\n')));
  EXPECT_TRUE(LoadFile(path)) << "exactly one megabyte is fine";
}

TEST_F(LoadTest, AHalfWrittenFileIsNamedWithItsLine) {
  const std::string path = Write("c.toml", "[environments.x]\npreset = \"py");
  EXPECT_EQ(LoadFile(path).error().what,
            path + ":2:13: error while parsing string: encountered end-of-file");
}

TEST_F(LoadTest, LinksAreFollowedUnlessRefused) {
  Write("c.toml", "[limits]\n");
  std::filesystem::create_symlink("c.toml", Path("link"));
  EXPECT_TRUE(ReadConfigFile(Path("link")));
  EXPECT_EQ(ReadConfigFile(Path("link"), Links::kRefuse).error().what,
            "'" + Path("link") + "' is a symbolic link");
}

}  // namespace
}  // namespace igloo::config
