// Images that want out of the directory that they are unpacked into. Each attack is given to a
// program that takes archives at their word first, and must win there.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <random>

#include "support/configured.h"
#include "support/host.h"
#include "support/oci.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

/// Unpacks layers as one would who trusts them.
constexpr const char* kNaive = R"py(
import os, shutil, sys, tarfile
tarfile.TarFile.extraction_filter = staticmethod(lambda member, path: member)
root = sys.argv[1]
for layer in sys.argv[2:]:
    for member in (tar := tarfile.open(layer)):
        directory, name = os.path.split(os.path.join(root, member.name))
        if name == ".wh..wh..opq":
            for each in os.listdir(directory): os.remove(os.path.join(directory, each))
        elif name.startswith(".wh."):
            os.remove(os.path.join(directory, name[4:]))
        else:
            tar.extract(member, root)
)py";

struct Attack {
  const char* name;
  std::vector<TarWriter> (*layers)(const std::string& outside);
  const char* refusal;  ///< what igloo says; null: it unpacks the image, and nothing is harmed
};

const Attack kAttacks[] = {
    {"DotDot",
     [](const std::string&) { return std::vector{TarWriter().File("../outside/file", "bad")}; },
     "'..'"},
    {"AbsoluteName",
     [](const std::string& out) { return std::vector{TarWriter().File(out + "/file", "bad")}; },
     nullptr},
    {"WriteThroughALink",
     [](const std::string& out) {
       return std::vector{TarWriter().Symlink("link", out).File("link/file", "bad")};
     },
     "below a link"},
    {"WriteThroughARelativeLink",
     [](const std::string&) {
       return std::vector{TarWriter().Symlink("link", "../outside").File("link/new", "bad")};
     },
     "below a link"},
    {"WriteToALink",
     [](const std::string& out) {
       return std::vector{TarWriter().Symlink("link", out + "/file"),
                          TarWriter().Pax("comment", "x").File("link", "bad")};
     },
     nullptr},
    {"WriteThroughAHardLink",
     [](const std::string& out) {
       return std::vector{TarWriter().HardLink("same", out + "/file").File("same", "bad")};
     },
     "cannot open"},
    {"WhiteoutThroughALink",
     [](const std::string& out) {
       return std::vector{TarWriter().Symlink("link", out), TarWriter().File("link/.wh.file", "")};
     },
     "below a link"},
    {"OpaqueThroughALink",
     [](const std::string& out) {
       return std::vector{TarWriter().Symlink("link", out),
                          TarWriter().File("link/.wh..wh..opq", "")};
     },
     "below a link"},
    {"ADirectoryBecomesALink",
     [](const std::string& out) {
       // The name is a directory when the first layer is looked at, and a link when it is used.
       return std::vector{TarWriter().Directory("a"),
                          TarWriter().File(".wh.a/x", "").Symlink("b", out),
                          TarWriter().File("b/file", "bad")};
     },
     "below a link"},
};

class ImageAttacks : public Configured, public ::testing::WithParamInterface<Attack> {
 protected:
  void SetUp() override {
    Configured::SetUp();
    Write("outside/file", "untouched");
  }
  auto Outside() const { return SnapshotOf(Path("outside")); }
  void Naive(const std::vector<TarWriter>& layers) const {
    fs::create_directory(Path("naive"));
    std::vector<std::string> args = {"-c", kNaive, Path("naive")};
    for (std::size_t i = 0; i < layers.size(); ++i) {
      args.push_back(Write("layer" + std::to_string(i), layers[i].Finish()));
    }
    RunProgram({.program = "/usr/bin/python3", .args = args});
  }
  Outcome Pull(const std::vector<TarWriter>& layers) const {
    LayoutWriter layout(Path("layout"));
    for (const TarWriter& each : layers) layout.AddLayer(Gzip(each.Finish()));
    layout.Finish();
    return Run({"env", "pull", "oci:" + Path("layout")});
  }
  std::vector<std::string> Stored() const {
    std::vector<std::string> names;
    for (const auto& each : fs::directory_iterator(Path(".local/share/igloo/images"))) {
      const std::string name = each.path().filename();
      if (name != "lock" && name != "names.json") names.push_back(each.path());
    }
    return names;
  }
};

TEST_P(ImageAttacks, HarmNothingOutside) {
  const auto layers = GetParam().layers(Path("outside"));
  const auto before = Outside();
  Naive(layers);
  ASSERT_NE(Outside(), before) << "the attack is none";
  fs::remove_all(Path("outside"));
  Write("outside/file", "untouched");

  const auto again = Outside();
  const Outcome pull = Pull(layers);
  EXPECT_EQ(Outside(), again);
  if (GetParam().refusal != nullptr) {
    EXPECT_EQ(pull.status, 125);
    EXPECT_THAT(pull.err, HasSubstr(GetParam().refusal));
    EXPECT_THAT(Stored(), IsEmpty());
  } else {
    EXPECT_EQ(pull.status, 0) << pull.err;
    EXPECT_EQ(Stored().size(), 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ImageAttacks, ::testing::ValuesIn(kAttacks),
                         [](const auto& each) { return std::string(each.param.name); });

class ImageBombs : public ImageAttacks {};

TEST_F(ImageBombs, SetIdBitsAndDevicesStayBehind) {
  const std::vector<TarWriter> layers = {
      TarWriter().File("su", "x", 04755).Add({.type = '6', .name = "pipe"})};
  Naive(layers);
  struct stat info{};
  ASSERT_EQ(::lstat(Path("naive/su").c_str(), &info), 0);
  ASSERT_EQ(info.st_mode & 07777, 04755U);
  const Outcome pull = Pull(layers);
  EXPECT_THAT(pull.err, HasSubstr("1 programs of the image lost their set-id bits"));
  EXPECT_THAT(pull.err, HasSubstr("1 devices, pipes or sockets"));
  const std::string root = Stored().at(0) + "/rootfs";
  ASSERT_EQ(::lstat((root + "/su").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0755U);
  EXPECT_EQ(info.st_uid, ::getuid());
  EXPECT_FALSE(fs::exists(root + "/pipe"));
}

// Four gigabytes of zeros in four megabytes.
TEST_F(ImageBombs, ALayerOfZerosIsStopped) {
  constexpr std::size_t kPiece = 16U << 20, kPieces = 256;
  std::string layer = Gzip(TarWriter().Add({.name = "zeros", .size = kPiece * kPieces}).bytes());
  const std::string piece = Gzip(std::string(kPiece, '\0'));
  for (std::size_t i = 0; i < kPieces; ++i) layer += piece;
  LayoutWriter(Path("layout")).AddLayer(layer).Finish();
  const Outcome pull = Run({"env", "pull", "oci:" + Path("layout")});
  EXPECT_EQ(pull.status, 125);
  EXPECT_THAT(pull.err, HasSubstr("more than 200 times its size"));
  EXPECT_THAT(Stored(), IsEmpty());
}

// Names that hardly shrink, so that it is their number that counts.
TEST_F(ImageBombs, AMillionFilesAreStopped) {
  std::mt19937 random(42);
  TarWriter some;
  for (int i = 0; i < 10'000; ++i) {
    std::string name;
    while (name.size() < 12) name += "abcdefghijklmnop"[random() % 16];
    some.Add({.type = '6', .name = name});
  }
  const std::string piece = Gzip(some.bytes());
  std::string layer;
  for (int i = 0; i < 100; ++i) layer += piece;
  LayoutWriter(Path("layout")).AddLayer(layer).Finish();
  const Outcome pull = Run({"env", "pull", "oci:" + Path("layout")});
  EXPECT_EQ(pull.status, 125);
  EXPECT_THAT(pull.err, HasSubstr("more than 500000 files"));
  EXPECT_THAT(Stored(), IsEmpty());
}

}  // namespace
}  // namespace igloo::testing
