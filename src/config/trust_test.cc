#include "config/trust.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/temp_dir.h"

namespace igloo::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kPresets[] = {"shell", "python"};
constexpr const char* kFile = "[environments.app]\npreset = 'python'\n";

/// A store without files, for what does not depend on them.
class Memory final : public TrustStore {
 public:
  Result<std::optional<std::string>> Find(const std::string& directory) override {
    const auto found = all.find(directory);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  }
  Result<void> Add(const Trusted& trusted) override {
    all[trusted.directory] = trusted.digest;
    return {};
  }
  Result<bool> Remove(const std::string& directory) override { return all.erase(directory) != 0; }
  Result<std::vector<Trusted>> List() override { return std::vector<Trusted>(); }
  std::map<std::string, std::string> all = {};
};

class TrustTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::Make(std::filesystem::canonical(::testing::TempDir()).string());
    ASSERT_TRUE(made) << made.error().what;
    dir_.emplace(*std::move(made));
    project_ = dir_->path() + "/project";
    std::filesystem::create_directory(project_);
  }
  std::string Path(const std::string& name) const { return dir_->path() + "/" + name; }
  void WriteProject(std::string_view text) const {
    ASSERT_TRUE(ReplaceFile(project_ + "/igloo.toml", text));
  }
  Trust TrustNow(TrustStore& store) const {
    const auto file = ReadProjectFile(project_, store);
    EXPECT_TRUE(file) << file.error().what;
    return file ? file->trust : Trust::kNoFile;
  }
  Result<void> TrustIt(TrustStore& store) const {
    IGLOO_ASSIGN(const auto file, ReadProjectFile(project_, store));
    return store.Add({.directory = file.directory, .digest = file.digest});
  }
  /// What a run in the project would have.
  Result<Config> Combined(TrustStore& store) const {
    IGLOO_ASSIGN(const auto file, ReadTrustedFile(project_, &store));
    return WithProject({}, file, kPresets);
  }

  std::optional<TempDir> dir_;
  std::string project_;
};

TEST_F(TrustTest, AFileCountsOnlyAsItWasWhenItWasTrusted) {
  Memory store;
  EXPECT_EQ(TrustNow(store), Trust::kNoFile);
  WriteProject(kFile);
  EXPECT_EQ(TrustNow(store), Trust::kUntrusted);
  ASSERT_TRUE(TrustIt(store));
  EXPECT_EQ(TrustNow(store), Trust::kTrusted);
  WriteProject(std::string(kFile) + "\n");
  EXPECT_EQ(TrustNow(store), Trust::kChanged);
  WriteProject(kFile);
  EXPECT_EQ(TrustNow(store), Trust::kTrusted) << "what was trusted is the content";
}

TEST_F(TrustTest, TrustBelongsToOnePlace) {
  Memory store;
  WriteProject(kFile);
  ASSERT_TRUE(TrustIt(store));
  std::filesystem::copy(project_, Path("copy"), std::filesystem::copy_options::recursive);
  EXPECT_EQ(ReadProjectFile(Path("copy"), store)->trust, Trust::kUntrusted);
  std::filesystem::create_directory_symlink(project_, Path("link"));
  EXPECT_EQ(ReadProjectFile(Path("link"), store)->trust, Trust::kTrusted) << "the same place";
  EXPECT_EQ(ReadProjectFile(project_ + "/../project/.", store)->trust, Trust::kTrusted);
}

TEST_F(TrustTest, ARunDoesNotEvenOpenAnUntrustedFile) {
  Memory store;
  WriteProject("this is [ no TOML");
  EXPECT_EQ(ReadTrustedFile(project_, &store)->trust, Trust::kUntrusted);
  EXPECT_EQ(ReadTrustedFile(project_, &store)->text, "");
  EXPECT_EQ(ReadTrustedFile(project_, nullptr)->trust, Trust::kUntrusted);
  EXPECT_EQ(Combined(store), Config{});
  ASSERT_TRUE(TrustIt(store));
  WriteProject("changed [ again");
  EXPECT_EQ(ReadTrustedFile(project_, &store)->trust, Trust::kChanged);
  EXPECT_EQ(Combined(store), Config{});
}

TEST_F(TrustTest, NothingThatAProjectPutsThereStopsARun) {
  Memory store;
  const std::string path = project_ + "/igloo.toml";
  std::filesystem::create_directory(path);
  EXPECT_EQ(ReadTrustedFile(project_, &store)->trust, Trust::kUntrusted);
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(ReadTrustedFile(project_, &store)->trust, Trust::kUntrusted);
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/dev/zero", path);
  EXPECT_EQ(ReadTrustedFile(project_, &store)->trust, Trust::kUntrusted);
}

TEST_F(TrustTest, ATrustedFileAddsItsEnvironments) {
  Memory store;
  WriteProject(kFile);
  ASSERT_TRUE(TrustIt(store));
  const auto config = Combined(store);
  ASSERT_TRUE(config) << config.error().what;
  EXPECT_EQ(config->environments.at("app").origin, Origin::kProject);
}

TEST_F(TrustTest, EvenATrustedFileGrantsNothing) {
  Memory store;
  for (const char* line : {"network = 'internet'", "secrets = ['x']", "mounts = ['/:/x']",
                           "backend = 'bubblewrap'", "inherit_env.vars = ['HOME']"}) {
    WriteProject(std::string(kFile) + line + "\n");
    ASSERT_TRUE(TrustIt(store));
    const auto config = Combined(store);
    ASSERT_FALSE(config) << line;
    EXPECT_THAT(config.error().what, HasSubstr("igloo.toml:3:")) << line;
    EXPECT_THAT(config.error().what, HasSubstr("which a project's own file never does"));
  }
}

TEST_F(TrustTest, AProjectWithoutAFileAddsNothing) {
  Memory store;
  EXPECT_EQ(Combined(store), Config{});
  EXPECT_EQ(ReadTrustedFile(Path("none"), &store)->trust, Trust::kNoFile);
  EXPECT_EQ(ReadProjectFile(Path("none"), store).error().code, Errc::kNotFound);
}

TEST_F(TrustTest, AProjectsFileIsAFileAndNoLink) {
  Memory store;
  ASSERT_TRUE(ReplaceFile(Path("secret"), "token"));
  std::filesystem::create_symlink(Path("secret"), project_ + "/igloo.toml");
  EXPECT_EQ(ReadProjectFile(project_, store).error().what,
            "'" + project_ + "/igloo.toml' is a symbolic link");
}

TEST_F(TrustTest, TheDirectoryKeepsWhatWasTrustedForTheUserAlone) {
  TrustDirectory store(Path("state/igloo/trust"));
  EXPECT_EQ(store.Find("/a").value(), std::nullopt);
  EXPECT_THAT(*store.List(), IsEmpty());
  EXPECT_EQ(store.Remove("/a"), false);
  EXPECT_FALSE(std::filesystem::exists(Path("state"))) << "looking writes nothing";

  const Trusted a{"/a b\nc", Sha256Hex("1")};
  const Trusted b{"/b", Sha256Hex("2")};
  ASSERT_TRUE(store.Add(b));
  ASSERT_TRUE(store.Add({a.directory, Sha256Hex("old")}));
  ASSERT_TRUE(store.Add(a));
  EXPECT_THAT(*TrustDirectory(Path("state/igloo/trust")).List(), ElementsAre(a, b));
  EXPECT_EQ(store.Find("/b").value(), b.digest);
  struct stat info{};
  ASSERT_EQ(::stat(Path("state/igloo/trust").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700U);
  ASSERT_EQ(::stat(Path("state/igloo/trust/" + Sha256Hex("/b")).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);

  EXPECT_EQ(store.Remove("/b"), true);
  EXPECT_THAT(*store.List(), ElementsAre(a));
}

TEST_F(TrustTest, ADamagedEntryTrustsNothing) {
  TrustDirectory store(Path("trust"));
  const std::string digest = Sha256Hex("x");
  ASSERT_TRUE(store.Add({"/p", digest}));
  const std::string entry = Path("trust/" + Sha256Hex("/p"));
  for (const std::string& text :
       {std::string(), std::string("x"), digest, digest + "\n", digest + "\n\n", digest + "\n/p",
        digest + "\n/other\n", digest + " /p\n", std::string(64, 'X') + "\n/p\n",
        std::string(1U << 20, 'a')}) {
    ASSERT_TRUE(ReplaceFile(entry, text));
    EXPECT_EQ(store.Find("/p").error().what, "'" + entry + "' is damaged");
  }
}

TEST_F(TrustTest, AnEntryThatOthersCanWriteTrustsNothing) {
  TrustDirectory store(Path("trust"));
  ASSERT_TRUE(store.Add({"/p", Sha256Hex("x")}));
  const std::string entry = Path("trust/" + Sha256Hex("/p"));
  ASSERT_TRUE(store.Find("/p")) << "control: as it was written it is fine";
  ASSERT_EQ(::chmod(entry.c_str(), 0620), 0);
  EXPECT_EQ(store.Find("/p").error().code, Errc::kPermissionDenied);
  ASSERT_EQ(::chmod(entry.c_str(), 0600), 0);
  std::filesystem::rename(entry, Path("elsewhere"));
  std::filesystem::create_symlink(Path("elsewhere"), entry);
  EXPECT_EQ(store.Find("/p").error().sys_errno, ELOOP);
}

}  // namespace
}  // namespace igloo::config
