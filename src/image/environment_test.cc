#include "image/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/replace_file.h"
#include "base/temp_dir.h"
#include "sandbox/plan.h"
#include "support/igloo.h"

namespace igloo::image {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = RootName::Kind;
namespace fs = std::filesystem;

const RootLayout kLayout = {.top = {{"bin", Kind::kLink, "usr/bin"},
                                    {"dev", Kind::kDirectory},
                                    {"etc", Kind::kDirectory},
                                    {"file", Kind::kFile},
                                    {"proc", Kind::kDirectory},
                                    {"tmp", Kind::kDirectory},
                                    {"usr", Kind::kDirectory},
                                    {"var", Kind::kDirectory},
                                    {"workspace", Kind::kDirectory}},
                            .etc = {{"alpine", Kind::kFile},
                                    {"passwd", Kind::kFile},
                                    {"ssl", Kind::kDirectory},
                                    {"zone", Kind::kLink, "/usr/zone"}},
                            .programs = {"/usr/bin/sh", "/usr/bin/python3", "/opt/bin/python3"}};

std::vector<std::string> Shown(const environment::Environment& environment) {
  std::vector<std::string> shown;
  for (const sandbox::Entry& entry : environment.contents) {
    if (const auto* tree = std::get_if<sandbox::HostTree>(&entry)) {
      shown.push_back(tree->source + ">" + tree->target);
    } else if (const auto* link = std::get_if<sandbox::Link>(&entry)) {
      if (!link->path.starts_with("/dev/")) shown.push_back(link->path + "->" + link->points_to);
    }
  }
  return shown;
}

TEST(ImageEnvironment, ShowsTheImagesFilesAndIgloosOwn) {
  const Image image{
      .root = "/r",
      .record = {.variables = {{"PATH", "/usr/bin"}, {"A", "1"}}, .entrypoint = {"/entry", "-v"}}};
  const auto made = MakeEnvironment("x", image, kLayout);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_THAT(Shown(*made), ElementsAre("/bin->usr/bin", "/r/file>/file", "/r/usr>/usr",
                                        "/r/var>/var", "/r/etc/alpine>/etc/alpine",
                                        "/r/etc/ssl>/etc/ssl", "/etc/zone->/usr/zone"));
  EXPECT_THAT(made->copied, ElementsAre("/usr", "/var"));
  EXPECT_THAT(made->interpreter, ElementsAre("/usr/bin/python3"));
  EXPECT_EQ(made->code_file, "main.py");
  EXPECT_EQ(made->language, "python");
  EXPECT_THAT(made->shell, ElementsAre("/usr/bin/sh"));
  EXPECT_EQ(made->variables.at("A"), "1");
  EXPECT_EQ(made->provider, "image");
  EXPECT_THAT(made->entrypoint, ElementsAre("/entry", "-v"));
}

TEST(ImageEnvironment, PathDecidesWhichInterpreterItIs) {
  const Image image{.root = "/r", .record = {.variables = {{"PATH", "/opt/bin:/usr/bin"}}}};
  EXPECT_THAT(MakeEnvironment("x", image, kLayout)->interpreter, ElementsAre("/opt/bin/python3"));
  const auto without =
      MakeEnvironment("x", {.root = "/r", .record = {.variables = {{"PATH", "/"}}}}, kLayout);
  EXPECT_TRUE(without->interpreter.empty());
  EXPECT_THAT(without->notes, Contains(HasSubstr("no code")));
}

TEST(ImageEnvironment, WhatIsNotUnpackedIsNoRoot) {
  const RootLayout layout{.top = {{"blobs", Kind::kDirectory}, {"oci-layout", Kind::kFile}}};
  EXPECT_THAT(MakeEnvironment("x", {.root = "/r"}, layout).error().hint, HasSubstr("oci:/r"));
  EXPECT_FALSE(MakeEnvironment("x", {.root = "/r"}, {}));
}

// Looking must not leave the image either: it decides by what it finds.
TEST(ImageEnvironment, LinksOfARootLeadIntoIt) {
  const TempDir temp = TempDir::Make(testing::TempParent()).value();
  const std::string root = temp.path() + "/root";
  fs::create_directories(root + "/usr/bin");
  fs::create_symlink("/usr/bin/env", root + "/usr/bin/python3");  // the host has one
  fs::create_symlink("../../../../../../../usr/bin/env", root + "/usr/bin/node");
  ASSERT_TRUE(ReplaceFile(root + "/usr/bin/tool", "x", {.mode = 0755}));
  fs::create_symlink("/usr/bin/tool", root + "/usr/bin/sh");
  fs::create_symlink("/etc", root + "/etc");  // the host's, to whoever follows it
  fs::create_symlink("usr/bin", root + "/bin");
  const auto layout = ReadRoot(root, {});
  ASSERT_TRUE(layout) << layout.error().what;
  EXPECT_THAT(layout->programs, ElementsAre("/bin/sh", "/usr/bin/sh"));
  EXPECT_TRUE(layout->etc.empty());
  const auto made = MakeEnvironment("x", {.root = root}, *layout);
  ASSERT_TRUE(made);
  EXPECT_THAT(Shown(*made), Not(Contains(HasSubstr("/etc"))));
  ASSERT_TRUE(ReadRoot(temp.path(), {}));
  EXPECT_FALSE(ReadRoot(temp.path() + "/none", {}));
}

/// HOME as it was, once a test is over.
class ImageOfAHome : public ::testing::Test {
 protected:
  ImageOfAHome() { fs::create_directories(home_ + "/rootfs/bin"); }
  ~ImageOfAHome() override {
    if (was_) {
      ::setenv("HOME", was_->c_str(), 1);
    } else {
      ::unsetenv("HOME");
    }
  }
  static std::string ErrorOf(const std::string& root) {
    const auto layout = ReadRoot(root, {});
    return layout ? "fine" : layout.error().what;
  }

  std::optional<std::string> was_ = std::getenv("HOME") != nullptr
                                        ? std::optional<std::string>(std::getenv("HOME"))
                                        : std::nullopt;
  TempDir temp_ = TempDir::Make(testing::TempParent()).value();
  std::string users_ = temp_.path() + "/users", home_ = users_ + "/me";
};

TEST_F(ImageOfAHome, IsRefusedLikeTheRootByWhateverName) {
  ::setenv("HOME", home_.c_str(), 1);
  fs::create_directory_symlink(home_, temp_.path() + "/link");
  for (const std::string& root :
       {home_, home_ + "/", users_, temp_.path(), temp_.path() + "/link", home_ + "/rootfs/.."}) {
    EXPECT_THAT(ErrorOf(root), HasSubstr("is or holds your home directory")) << root;
  }
  for (const char* root : {"/", "//", "/usr/..", "/proc/self/root"}) {
    EXPECT_THAT(ErrorOf(root), HasSubstr("is the root of this machine")) << root;
  }
  EXPECT_THAT(ReadRoot("/", {}).error().hint, HasSubstr("/srv/rootfs"));
  EXPECT_EQ(ErrorOf(home_ + "/rootfs"), "fine");
  ::setenv("HOME", (temp_.path() + "/link").c_str(), 1);
  EXPECT_THAT(ErrorOf(users_), HasSubstr("is or holds your home directory"));
}

TEST_F(ImageOfAHome, WithoutOneTheRootIsRefusedAllTheSame) {
  ::unsetenv("HOME");
  EXPECT_THAT(ErrorOf("/"), HasSubstr("is the root of this machine"));
  EXPECT_EQ(ErrorOf(home_), "fine");
}

}  // namespace
}  // namespace igloo::image
