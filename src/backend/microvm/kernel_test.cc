#include "backend/microvm/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"

namespace igloo::backend::microvm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A host with kernels of our own.
class Kernels : public ::testing::Test {
 protected:
  std::string boot() const { return place_.path() + "/boot"; }
  std::string modules() const { return place_.path() + "/lib/modules"; }

  void Write(const std::string& path, std::string_view content) const {
    const std::filesystem::path whole = place_.path() + "/" + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, std::ios::binary) << content;
  }
  void AddModule(const std::string& release, const std::string& name,
                 const std::string& needs) const {
    Write("lib/modules/" + release + "/kernel/" + name + ".ko",
          std::string("ELF\0license=GPL\0depends=", 24) + needs + std::string("\0name=x\0", 8));
  }
  /// One that has everything.
  void AddKernel(const std::string& release) const {
    Write("boot/vmlinuz-" + release, "kernel");
    AddModule(release, "drivers/virtio/virtio", "");
    AddModule(release, "drivers/virtio/virtio_ring", "virtio");
    AddModule(release, "drivers/virtio/virtio_pci", "virtio,virtio_ring");
    AddModule(release, "drivers/char/virtio_console", "virtio_ring,virtio");
    AddModule(release, "net/9p/9pnet", "");
    AddModule(release, "net/9p/9pnet_virtio", "9pnet,virtio");
    AddModule(release, "fs/9p/9p", "9pnet");
    AddModule(release, "fs/overlayfs/overlay", "");
  }
  Result<Kernel> Find(const std::string& configured = {}) const {
    return FindKernel(configured, boot(), modules());
  }

  TempDir place_ = *TempDir::Make("/tmp");
};

TEST_F(Kernels, TheNewestThatHasEverythingIsTaken) {
  AddKernel("6.1.0-9-amd64");
  AddKernel("6.1.0-10-amd64");
  Write("boot/vmlinuz-6.1.0-56-cloud-amd64", "kernel");
  Write("lib/modules/6.1.0-56-cloud-amd64/kernel/fs/overlayfs/overlay.ko", "");
  const auto kernel = Find();
  ASSERT_TRUE(kernel) << kernel.error().what;
  EXPECT_EQ(kernel->release, "6.1.0-10-amd64") << "10 is newer than 9";
  EXPECT_EQ(kernel->image, boot() + "/vmlinuz-6.1.0-10-amd64");
}

TEST_F(Kernels, ModulesComeBehindThoseThatTheyNeed) {
  AddKernel("6.1.0-9-amd64");
  const auto modules = ModulesFor(*Find());
  ASSERT_TRUE(modules) << modules.error().what;
  std::vector<std::string> names;
  for (const Module& each : *modules) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("virtio", "virtio_ring", "virtio_pci", "virtio_console", "9pnet",
                                 "9pnet_virtio", "9p", "overlay"));
}

TEST_F(Kernels, WhatIsBuiltInNeedsNoModule) {
  AddKernel("6.1.0-9-amd64");
  std::filesystem::remove(modules() + "/6.1.0-9-amd64/kernel/fs/overlayfs/overlay.ko");
  EXPECT_FALSE(Find());
  Write("lib/modules/6.1.0-9-amd64/modules.builtin", "kernel/fs/overlayfs/overlay.ko\n");
  ASSERT_TRUE(Find());
  EXPECT_TRUE(ModulesFor(*Find()));
}

TEST_F(Kernels, OneThatIsMissingIsNamedWithItsCure) {
  EXPECT_THAT(Find().error().what, HasSubstr("there is no kernel for virtual machines"));
  EXPECT_THAT(Find().error().hint, HasSubstr("sudo apt install linux-image-amd64"));
  AddKernel("6.1.0-9-amd64");
  std::filesystem::remove(modules() + "/6.1.0-9-amd64/kernel/fs/9p/9p.ko");
  EXPECT_THAT(Find().error().what, HasSubstr("has what virtual machines need"));
  const auto modules = ModulesFor(*Find(boot() + "/vmlinuz-6.1.0-9-amd64"));
  ASSERT_FALSE(modules);
  EXPECT_THAT(modules.error().what, HasSubstr("has no module '9p'"));
}

TEST_F(Kernels, AConfiguredOneCanLieBesideItsModules) {
  Write("store/bzImage", "kernel");
  Write("store/lib/modules/6.12.1/kernel/fs/9p/9p.ko", "");
  const auto kernel = Find(place_.path() + "/store/bzImage");
  ASSERT_TRUE(kernel) << kernel.error().what;
  EXPECT_EQ(kernel->release, "6.12.1");
  EXPECT_EQ(kernel->modules, place_.path() + "/store/lib/modules/6.12.1");
  EXPECT_THAT(Find(place_.path() + "/none").error().what, HasSubstr("cannot read the kernel"));
}

TEST_F(Kernels, ACompressedModuleIsRefused) {
  AddKernel("6.1.0-9-amd64");
  const std::string file = modules() + "/6.1.0-9-amd64/kernel/fs/9p/9p.ko";
  std::filesystem::rename(file, file + ".xz");
  const auto modules = ModulesFor(*Find());
  ASSERT_FALSE(modules);
  EXPECT_THAT(modules.error().what, HasSubstr("is compressed"));
}

TEST(DependenciesOf, AreReadFromTheTextsOfAModule) {
  EXPECT_THAT(DependenciesOf({"x\0depends=a,b-c\0y", 17}), ElementsAre("a", "b_c"));
  EXPECT_THAT(DependenciesOf({"x\0depends=\0y", 12}), IsEmpty());
  EXPECT_THAT(DependenciesOf("nothing"), IsEmpty());
}

}  // namespace
}  // namespace igloo::backend::microvm
