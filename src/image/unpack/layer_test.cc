// Layers on real directories: what they make, and that nothing they say reaches anything else.

#include "image/unpack/layer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/temp_dir.h"
#include "support/igloo.h"
#include "support/oci.h"

namespace igloo::image::unpack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TarWriter;
namespace fs = std::filesystem;

/// Bytes that are there already.
class TextStream : public Stream {
 public:
  explicit TextStream(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> Read(std::span<char> into) override {
    // In odd pieces: nobody may rely on getting all that was asked for.
    const std::size_t size = std::min({into.size(), bytes_.size() - at_, std::size_t{777}});
    if (size > 0) std::memcpy(into.data(), bytes_.data() + at_, size);
    at_ += size;
    return size;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

class LayerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(Root());
    fs::create_directory(Outside());
    ASSERT_TRUE(ReplaceFile(Outside() + "/file", "untouched"));
    root_.Reset(::open(Root().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    tree_.emplace(root_.get(), limits_);
  }
  std::string Root() const { return temp_.path() + "/root"; }
  std::string Outside() const { return temp_.path() + "/outside"; }
  /// Empty, or what is wrong with the layer.
  std::string Apply(const std::string& bytes) {
    TextStream stream(bytes);
    const auto applied = ApplyLayer(stream, *tree_, budget_, dropped_);
    return applied ? "" : applied.error().what;
  }
  std::string Apply(const TarWriter& tar) { return Apply(tar.Finish()); }
  std::string Text(const std::string& path) const {
    return ReadFile(Root() + "/" + path, 1U << 20).value_or("(not there)");
  }
  std::vector<std::string> Names(const std::string& path = "") const {
    std::vector<std::string> names;
    for (const auto& each : fs::directory_iterator(Root() + "/" + path)) {
      names.push_back(each.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }
  mode_t ModeOf(const std::string& path) const {
    struct stat info{};
    ::lstat((Root() + "/" + path).c_str(), &info);
    return info.st_mode;
  }
  void ExpectOutsideUntouched() const {
    EXPECT_EQ(ReadFile(Outside() + "/file", 100).value_or("gone"), "untouched");
    EXPECT_EQ(std::distance(fs::directory_iterator(Outside()), fs::directory_iterator()), 1);
    EXPECT_EQ(std::distance(fs::directory_iterator(temp_.path()), fs::directory_iterator()), 2);
  }

  TempDir temp_ = TempDir::Make(testing::TempParent()).value();
  Limits limits_ = {};
  Budget budget_{limits_};
  UniqueFd root_ = {};
  std::optional<Tree> tree_ = {};
  Dropped dropped_ = {};
};

TEST_F(LayerTest, MakesWhatAnArchiveSays) {
  EXPECT_EQ(Apply(TarWriter()
                      .Directory("./")
                      .Directory("bin/")
                      .File("./bin/tool", "#!", 0700)
                      .File("deep/er/file", "text")
                      .Symlink("lib", "usr/lib")
                      .HardLink("bin/same", "bin/tool")
                      .Add({.name = "old", .content = "x", .time = 1'000'000'000})),
            "");
  EXPECT_THAT(Names(), ElementsAre("bin", "deep", "lib", "old"));
  EXPECT_EQ(Text("bin/same"), "#!");
  EXPECT_EQ(Text("deep/er/file"), "text");
  EXPECT_EQ(ModeOf("bin/tool"), S_IFREG | 0755U);
  EXPECT_EQ(ModeOf("deep/er/file"), S_IFREG | 0644U);
  EXPECT_EQ(ModeOf("bin"), S_IFDIR | 0755U);
  EXPECT_EQ(fs::read_symlink(Root() + "/lib"), "usr/lib");
  struct stat info{};
  ::lstat((Root() + "/old").c_str(), &info);
  EXPECT_EQ(info.st_mtim.tv_sec, 1'000'000'000);
}

TEST_F(LayerTest, LongNamesComeInBothForms) {
  const std::string name = std::string(120, 'n') + "/" + std::string(200, 'm');
  EXPECT_EQ(Apply(TarWriter()
                      .Pax("path", "pax/" + name)
                      .File("short", "1")
                      .LongName("gnu/" + name)
                      .File("short", "2")
                      .Pax("linkpath", std::string(150, 't'))
                      .Symlink("link", "short")),
            "");
  EXPECT_EQ(Text("pax/" + name), "1");
  EXPECT_EQ(Text("gnu/" + name), "2");
  EXPECT_EQ(fs::read_symlink(Root() + "/link"), std::string(150, 't'));
}

TEST_F(LayerTest, LaterLayersReplaceAndTakeAway) {
  ASSERT_EQ(Apply(TarWriter()
                      .File("kept", "1")
                      .File("changed", "1")
                      .File("gone", "1")
                      .File("dir/a", "1")
                      .File("dir/b", "1")
                      .File("opaque/old/x", "1")
                      .File("opaque/both", "1")
                      .File("was-directory/x", "1")
                      .File("was-file", "1")),
            "");
  ASSERT_EQ(Apply(TarWriter()
                      .File("changed", "2")
                      .File(".wh.gone", "")
                      .File("dir/.wh.b", "")
                      .File("opaque/new", "2")
                      .File("opaque/both", "2")
                      .File("opaque/.wh..wh..opq", "")
                      .Symlink("was-directory", "dir")
                      .File("was-file/x", "2")
                      .File(".wh..wh.plnk", "")
                      .File(".wh.never-was", "")
                      .File("no/such/.wh.place", "")),
            "a layer has 'was-file/x' below a file");
  EXPECT_THAT(Names(),
              ElementsAre("changed", "dir", "kept", "opaque", "was-directory", "was-file"));
  EXPECT_EQ(Text("changed"), "2");
  EXPECT_THAT(Names("dir"), ElementsAre("a"));
  EXPECT_THAT(Names("opaque"), ElementsAre("both", "new"));
  EXPECT_EQ(Text("opaque/both"), "2");
  EXPECT_TRUE(fs::is_symlink(Root() + "/was-directory"));
}

TEST_F(LayerTest, ADirectoryTakesThePlaceOfAFileAndALinkOfADirectory) {
  ASSERT_EQ(Apply(TarWriter().File("a", "1").Directory("b").File("b/x", "1").Symlink("c", "b")),
            "");
  ASSERT_EQ(Apply(TarWriter()
                      .Directory("a")
                      .File("a/y", "2")
                      .Symlink("b", "a")
                      .Directory("c")
                      .File("c/z", "2")),
            "");
  EXPECT_THAT(Names("a"), ElementsAre("y"));
  EXPECT_TRUE(fs::is_symlink(Root() + "/b"));
  EXPECT_FALSE(fs::is_symlink(Root() + "/c"));
  EXPECT_THAT(Names("c"), ElementsAre("z"));
}

TEST_F(LayerTest, AWhiteoutSparesWhatItsOwnLayerBrought) {
  ASSERT_EQ(Apply(TarWriter().File("d/old", "1")), "");
  ASSERT_EQ(
      Apply(TarWriter().File("d/new", "2").File("x", "2").File(".wh.d", "").File(".wh.x", "")), "");
  EXPECT_THAT(Names("d"), ElementsAre("new"));
  EXPECT_EQ(Text("x"), "2");
}

TEST_F(LayerTest, TheSameNameTwiceIsTheLater) {
  EXPECT_EQ(Apply(TarWriter().File("a", "1").HardLink("b", "a").File("a", "2").File("A", "3")), "");
  EXPECT_EQ(Text("a"), "2");
  EXPECT_EQ(Text("b"), "1");
  EXPECT_EQ(Text("A"), "3");  // names differ by case
}

TEST_F(LayerTest, DevicesAndSetIdBitsStayBehind) {
  EXPECT_EQ(Apply(TarWriter()
                      .Add({.type = '3', .name = "dev/mem"})
                      .Add({.type = '4', .name = "dev/sda"})
                      .Add({.type = '6', .name = "pipe"})
                      .File("su", "x", 06755)
                      .Add({.type = '5', .name = "sticky", .mode = 07777})
                      .Pax("SCHILY.xattr.security.capability", "\x01\x02\x03")
                      .File("ping", "x", 0755)),
            "");
  EXPECT_THAT(Names(), ElementsAre("ping", "sticky", "su"));
  EXPECT_EQ(ModeOf("su"), S_IFREG | 0755U);
  EXPECT_EQ(ModeOf("sticky"), S_IFDIR | 0755U);
  EXPECT_EQ(dropped_.devices, 3U);
  EXPECT_EQ(dropped_.privileged, 1U);
}

// Each of these writes, links or removes outside of the tree when it is taken at its word.
TEST_F(LayerTest, NoNameLeadsOut) {
  const std::string out = Outside();
  EXPECT_EQ(Apply(TarWriter().File("../outside/file", "bad")),
            "a layer has a name with '..' in it");
  EXPECT_EQ(Apply(TarWriter().File("a/../../outside/file", "bad")),
            "a layer has a name with '..' in it");
  EXPECT_EQ(Apply(TarWriter().Pax("path", "a/..").File("x", "bad")),
            "a layer has a name with '..' in it");
  EXPECT_EQ(Apply(TarWriter().Symlink("out", out).File("out/file", "bad")),
            "a layer has 'out/file' below a link");
  EXPECT_EQ(Apply(TarWriter().Symlink("up", "../outside").Directory("up/made")),
            "a layer has 'up/made' below a link");
  EXPECT_EQ(Apply(TarWriter().Symlink("l", "../outside").Symlink("l/deep/link", "x")),
            "a layer has 'l/deep/link' below a link");
  EXPECT_EQ(Apply(TarWriter().HardLink("h", "../outside/file")),
            "a layer has a name with '..' in it");
  EXPECT_THAT(Apply(TarWriter().HardLink("h", out + "/file")), HasSubstr("cannot open"));
  EXPECT_EQ(Apply(TarWriter().Symlink("s", out).HardLink("h", "s/file")),
            "a layer has 's/file' below a link");
  EXPECT_EQ(Apply(TarWriter().Symlink("w", out).File("w/.wh.file", "")),
            "a layer has 'w/file' below a link");
  EXPECT_EQ(Apply(TarWriter().Symlink("o", out).File("o/.wh..wh..opq", "")),
            "a layer has 'o/.wh..wh..opq' below a link");
  for (const char* name : {".wh.", ".wh..", ".wh...", "d/.wh..."}) {
    EXPECT_EQ(Apply(TarWriter().Directory("d").File(name, "")),
              "a layer takes away a name that is none")
        << name;
  }
  ExpectOutsideUntouched();
}

TEST_F(LayerTest, ALinkIsReplacedAndNotWrittenThrough) {
  EXPECT_EQ(Apply(TarWriter().Symlink("f", Outside() + "/file").File("f", "inside")), "");
  EXPECT_EQ(Text("f"), "inside");
  EXPECT_FALSE(fs::is_symlink(Root() + "/f"));
  // A second name of the link is the link, not what it points to.
  EXPECT_EQ(Apply(TarWriter().Symlink("l", Outside() + "/file").HardLink("m", "l").File("m", "x")),
            "");
  EXPECT_EQ(Apply(TarWriter().File(".wh.l", "")), "");
  EXPECT_THAT(Names(), ElementsAre("f", "m"));
  ExpectOutsideUntouched();
}

TEST_F(LayerTest, AbsoluteNamesAreTheTreesOwn) {
  EXPECT_EQ(Apply(TarWriter().File("/etc/file", "1").HardLink("/same", "/etc/file")), "");
  EXPECT_EQ(Text("etc/file"), "1");
  EXPECT_EQ(Text("same"), "1");
}

TEST_F(LayerTest, TheRootIsNothingToReplace) {
  for (const char* name : {"/", "./", "."}) {
    EXPECT_EQ(Apply(TarWriter().Symlink(name, "x")), "a layer replaces the root by a file") << name;
  }
  EXPECT_THAT(Apply(TarWriter().HardLink("x", "/")), HasSubstr("which is no file in it"));
  EXPECT_THAT(Apply(TarWriter().Directory("d").HardLink("x", "d")),
              HasSubstr("which is no file in it"));
  EXPECT_EQ(Apply(TarWriter().HardLink("self", "self")), "a layer has a link to itself");
}

TEST_F(LayerTest, StrangeNamesAreLeftOut) {
  EXPECT_EQ(
      Apply(TarWriter().File("a\nb", "1").File("c\x1b[31m", "1").File("d\x7f", "1").File("ü", "1")),
      "");
  EXPECT_THAT(Names(), ElementsAre("ü"));
  EXPECT_EQ(dropped_.names, 3U);
  EXPECT_THAT(Apply(TarWriter().Pax("path", std::string("a\0b", 3)).File("x", "")),
              HasSubstr("NUL"));
  EXPECT_THAT(Apply(TarWriter().LongName(std::string(300, 'x')).File("x", "")),
              HasSubstr("too long"));
  EXPECT_THAT(Apply(TarWriter().Pax("path", std::string(5000, 'x')).File("x", "")),
              HasSubstr("too long"));
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "d/";
  EXPECT_THAT(Apply(TarWriter().Pax("path", deep + "x").File("x", "")), HasSubstr("too deep"));
}

TEST_F(LayerTest, BrokenArchivesAreSaidToBeBroken) {
  const std::string good = TarWriter().File("f", std::string(2000, 'x')).Finish();
  for (const std::size_t size : {1UL, 511UL, 513UL, 1000UL, 2511UL}) {
    EXPECT_EQ(Apply(good.substr(0, size)), "the archive is broken: it ends too early") << size;
  }
  std::string changed = good;
  changed[3] ^= 1;
  EXPECT_EQ(Apply(changed), "the archive is broken: a checksum is wrong");
  EXPECT_THAT(Apply(TarWriter().Add({.type = 'S', .name = "sparse"})), HasSubstr("holes"));
  EXPECT_THAT(Apply(TarWriter().Pax("GNU.sparse.realsize", "1099511627776").File("s", "")),
              HasSubstr("holes"));
  EXPECT_EQ(Apply(TarWriter().Pax("size", "99999999999").File("s", "")),
            "the archive is broken: it ends too early");
  EXPECT_EQ(Apply(TarWriter().Pax("size", "18446744073709551615").File("s", "")),
            "the archive is broken: a size is too large");
  EXPECT_EQ(
      Apply(TarWriter().Add({.type = 'x', .name = "p", .content = "99 path=x\n"}).File("s", "")),
      "the archive is broken: an attribute is not one");
  EXPECT_EQ(Apply(TarWriter().Add({.type = 'x', .name = "p", .content = "path=x\n"}).File("s", "")),
            "the archive is broken: an attribute is not one");
  TarWriter headers;
  for (int i = 0; i < 20; ++i) headers.Pax("comment", "again");
  EXPECT_EQ(Apply(headers.File("s", "")), "the archive is broken: a file has too many headers");
  EXPECT_EQ(Apply(std::string(4096, '\xff')), "the archive is broken: a checksum is wrong");
}

TEST_F(LayerTest, TooManyFilesAreTooMany) {
  budget_.entries = 3;
  EXPECT_EQ(Apply(TarWriter().File("1", "").File("2", "").File("3", "").File("4", "")),
            "the image has more than 500000 files");
  EXPECT_THAT(Names(), ElementsAre("1", "2", "3"));
}

}  // namespace
}  // namespace igloo::image::unpack
