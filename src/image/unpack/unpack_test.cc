// Whole layouts on disk, unpacked into real directories.

#include "image/unpack/unpack.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "support/igloo.h"
#include "support/oci.h"

namespace igloo::image::unpack {
namespace {

using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::LayoutWriter;
using testing::TarWriter;
using testing::Zstd;
namespace fs = std::filesystem;

constexpr const char* kPlain = "application/vnd.oci.image.layer.v1.tar";

class UnpackTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return temp_.path() + "/" + name; }
  Result<Summary> Run(const std::string& tag = "", const std::string& layout = "layout") {
    fs::remove_all(Path("root"));
    fs::create_directory(Path("root"));
    const UniqueFd source(::open(Path(layout).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const UniqueFd target(::open(Path("root").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    IGLOO_ASSIGN(const Found found, Find(source.get(), tag, limits_));
    return Unpack(source.get(), found, target.get(), limits_);
  }
  std::string ErrorOf(const std::string& tag = "") {
    const auto summary = Run(tag);
    return summary ? "fine" : summary.error().what;
  }
  std::string Text(const std::string& path) const {
    return ReadFile(Path("root/" + path), 1U << 20).value_or("(not there)");
  }

  TempDir temp_ = TempDir::Make(testing::TempParent()).value();
  Limits limits_ = {};
  LayoutWriter layout_{temp_.path() + "/layout"};
};

TEST_F(UnpackTest, LayersOfAllKindsLieOnEachOther) {
  layout_.AddLayer(TarWriter().File("plain", "1").File("over", "1").Finish(), kPlain)
      .AddLayer(Gzip(TarWriter().File("gzip", "2").File("over", "2").Finish()))
      .AddLayer(Zstd(TarWriter().File("zstd", "3").File("over", "3").Finish()),
                "application/vnd.oci.image.layer.v1.tar+zstd")
      .SetConfig(R"({"Env":["PATH=/bin"],"User":"root"})")
      .Finish("12");
  const auto summary = Run("12");
  ASSERT_TRUE(summary) << summary.error().what;
  EXPECT_EQ(Text("plain") + Text("gzip") + Text("zstd") + Text("over"), "1233");
  EXPECT_THAT(summary->config.env, ElementsAre("PATH=/bin"));
  EXPECT_EQ(summary->entries, 6U);
  EXPECT_TRUE(Run());
  EXPECT_THAT(ErrorOf("13"), HasSubstr("no image with the tag '13'"));
}

TEST_F(UnpackTest, GzipInSeveralPiecesIsOneLayer) {
  const std::string tar = TarWriter().File("f", std::string(5000, 'x')).Finish();
  layout_.AddLayer(Gzip(tar.substr(0, 700)) + Gzip(tar.substr(700))).Finish();
  ASSERT_EQ(ErrorOf(), "fine");
  EXPECT_EQ(Text("f"), std::string(5000, 'x'));
}

TEST_F(UnpackTest, ABlobMustBeWhatItsDigestSays) {
  const std::string layer = Gzip(TarWriter().File("f", "honest").Finish());
  layout_.AddLayer(layer).Finish();
  ASSERT_EQ(ErrorOf(), "fine");
  const std::string other = Gzip(TarWriter().File("f", "evil!!").Finish());
  layout_.Write("blobs/sha256/" + Sha256Hex(layer), other);
  EXPECT_THAT(ErrorOf(), HasSubstr("not what its digest"));
  layout_.Write("blobs/sha256/" + Sha256Hex(layer), layer + "more");
  EXPECT_THAT(ErrorOf(), HasSubstr("not what its digest"));
  layout_.Write("blobs/sha256/" + Sha256Hex(layer), layer.substr(0, 40));
  EXPECT_THAT(ErrorOf(), HasSubstr("not what its digest"));
  fs::remove(Path("layout/blobs/sha256/" + Sha256Hex(layer)));
  EXPECT_THAT(ErrorOf(), HasSubstr("No such file"));
}

/// Terabytes that are a hole in a file take no room, and an hour to hash.
TEST_F(UnpackTest, ABlobOfAnotherLengthIsNotEvenRead) {
  const std::string layer = Gzip(TarWriter().File("f", "text").Finish());
  layout_.AddLayer(layer).Finish();
  ASSERT_EQ(ErrorOf(), "fine");
  fs::resize_file(Path("layout/blobs/sha256/" + Sha256Hex(layer)), 1ULL << 40);
  EXPECT_THAT(ErrorOf(), HasSubstr("not what its digest"));
  EXPECT_EQ(Text("f"), "(not there)");
}

TEST_F(UnpackTest, AllLayersTogetherHaveALimitPacked) {
  const std::string layer = TarWriter().File("f", "text").Finish();
  layout_.AddLayer(layer, kPlain).AddLayer(layer, kPlain).Finish();
  limits_.bytes = 2 * layer.size();
  ASSERT_EQ(ErrorOf(), "fine");
  limits_.bytes -= 1;
  EXPECT_THAT(ErrorOf(), HasSubstr("more than " + HumanBytes(limits_.bytes) + ", packed"));
  EXPECT_EQ(Text("f"), "(not there)");
}

TEST_F(UnpackTest, ALinkInTheLayoutIsNotFollowed) {
  const std::string layer = Gzip(TarWriter().File("f", "text").Finish());
  layout_.AddLayer(layer).Finish();
  const std::string blob = Path("layout/blobs/sha256/" + Sha256Hex(layer));
  fs::rename(blob, Path("elsewhere"));
  fs::create_symlink(Path("elsewhere"), blob);
  EXPECT_THAT(ErrorOf(), HasSubstr("symbolic links"));
  fs::remove(Path("layout/index.json"));
  ASSERT_EQ(::mkfifo(Path("layout/index.json").c_str(), 0600), 0);
  EXPECT_EQ(ErrorOf(), "'index.json' of the layout is no file");
}

TEST_F(UnpackTest, AnotherMachinesImageIsRefused) {
  layout_.AddLayer(Gzip(TarWriter().File("f", "").Finish())).Finish("latest", "mips");
  EXPECT_THAT(ErrorOf(), HasSubstr("made for linux/mips"));
}

TEST_F(UnpackTest, BombsAreNoticedBeforeTheyHaveGoneOff) {
  limits_.free_bytes = 1U << 20;
  const std::string zeros(8U << 20, '\0');
  layout_.AddLayer(Gzip(TarWriter().File("f", zeros).Finish())).Finish();
  EXPECT_THAT(ErrorOf(), HasSubstr("more than 200 times its size"));
  EXPECT_LT(fs::file_size(Path("root/f")), 3U << 20);
  limits_.ratio = 100'000;
  EXPECT_EQ(ErrorOf(), "fine");
  limits_.bytes = 1U << 20;
  EXPECT_THAT(ErrorOf(), HasSubstr("more than 1 MB"));
  EXPECT_LT(fs::file_size(Path("root/f")), (1U << 20) + 1);
}

TEST_F(UnpackTest, ABombInZstdIsOneToo) {
  limits_.free_bytes = 1U << 20;
  const std::string zeros(64U << 20, '\0');
  layout_
      .AddLayer(Zstd(TarWriter().File("f", zeros).Finish()),
                "application/vnd.oci.image.layer.v1.tar+zstd")
      .Finish();
  EXPECT_THAT(ErrorOf(), HasSubstr("more than 200 times its size"));
}

TEST_F(UnpackTest, BrokenPackingIsSaid) {
  const std::string layer = Gzip(TarWriter().File("f", std::string(100'000, 'x')).Finish());
  layout_.AddLayer(layer.substr(0, layer.size() / 2)).Finish();
  EXPECT_THAT(ErrorOf(), HasSubstr("ends too early"));
  LayoutWriter broken(Path("layout"));
  std::string damaged = layer;
  damaged[20] ^= 0x55;
  broken.AddLayer(damaged).Finish();
  EXPECT_THAT(ErrorOf(), HasSubstr("broken"));
}

TEST_F(UnpackTest, LongDescriptionsAreNotRead) {
  limits_.text = 300;
  layout_.AddLayer(Gzip("")).SetConfig(R"({"User":")" + std::string(500, 'u') + "\"}").Finish();
  EXPECT_THAT(ErrorOf(), HasSubstr("more than"));
}

TEST_F(UnpackTest, AnIndexThatLeadsToItselfEnds) {
  const std::string inner =
      R"({"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]})";
  std::string at = layout_.AddBlob(inner, "application/vnd.oci.image.index.v1+json");
  for (int i = 0; i < 5; ++i) {
    at =
        layout_.AddBlob(R"({"manifests":[)" + at + "]}", "application/vnd.oci.image.index.v1+json");
  }
  layout_.Write("index.json", R"({"manifests":[)" + at + "]}");
  EXPECT_THAT(ErrorOf(), HasSubstr("leads to no manifest"));
}

TEST_F(UnpackTest, AnArchiveHoldsALayoutAndNothingElseIsTaken) {
  layout_.AddLayer(Gzip(TarWriter().File("f", "text").Finish())).Finish();
  TarWriter tar;
  for (const auto& each : fs::recursive_directory_iterator(Path("layout"))) {
    const std::string name = fs::relative(each.path(), Path("layout"));
    if (!each.is_regular_file()) continue;
    if (name.size() <= 100) tar.File(name, ReadFile(each.path(), 1U << 20).value());
  }
  tar.File("blobs/sha256/evil.sh", "x").File("other", "x").Symlink("blobs/sha256/link", "/etc");
  ASSERT_TRUE(ReplaceFile(Path("a.tar"), Gzip(tar.Finish())));
  fs::create_directory(Path("again"));
  const UniqueFd archive(::open(Path("a.tar").c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd target(::open(Path("again").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto extracted = ExtractLayout(archive.get(), target.get(), limits_);
  ASSERT_TRUE(extracted) << extracted.error().what;
  EXPECT_FALSE(fs::exists(Path("again/other")));
  EXPECT_EQ(
      std::distance(fs::directory_iterator(Path("again/blobs/sha256")), fs::directory_iterator()),
      3);
  const auto summary = Run("", "again");
  ASSERT_TRUE(summary) << summary.error().what;
  EXPECT_EQ(Text("f"), "text");
}

}  // namespace
}  // namespace igloo::image::unpack
