#include "cli/doctor/machine.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"

namespace igloo::cli {
namespace {

using ::testing::HasSubstr;
using State = Finding::State;
namespace fs = std::filesystem;

class MachineTest : public ::testing::Test {
 protected:
  void Put(const std::string& path, const std::string& text, int mode = 0644) {
    fs::create_directories(fs::path(root_.path() + path).parent_path());
    std::ofstream(root_.path() + path) << text;
    ::chmod((root_.path() + path).c_str(), static_cast<mode_t>(mode));
  }
  std::vector<Finding> Look(bool is_root = false) const {
    return LookAtMachine(
        {.root = root_.path(), .search_path = "/usr/bin::/opt", .is_root = is_root});
  }
  static const Finding& Named(const std::vector<Finding>& all, const std::string& name) {
    for (const Finding& each : all) {
      if (each.name == name) return each;
    }
    ADD_FAILURE() << name;
    return all.front();
  }
  TempDir root_ = TempDir::Make("/tmp").value();
};

TEST_F(MachineTest, NothingInTheWayIsGood) {
  Put("/proc/sys/user/max_user_namespaces", "95000\n");
  Put("/proc/sys/kernel/unprivileged_userns_clone", "1\n");
  Put("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n");
  EXPECT_EQ(Named(Look(), "user namespaces").state, State::kGood);
}

TEST_F(MachineTest, EverySwitchHasItsFix) {
  Put("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
  const auto found = Look();
  EXPECT_EQ(Named(found, "AppArmor").state, State::kMissing);
  EXPECT_THAT(Named(found, "AppArmor").fix, HasSubstr("sysctl"));
  EXPECT_TRUE(Named(found, "AppArmor").required);
  EXPECT_FALSE(Named(Look(true), "AppArmor").required) << "it does not bind root";
  Put("/proc/sys/user/max_user_namespaces", "0\n");
  EXPECT_TRUE(Named(Look(true), "user namespaces").required) << "this one binds everybody";
}

TEST_F(MachineTest, ProgramsAreFoundWhereTheyAre) {
  Put("/opt/tmux", "", 0755);
  Put("/usr/bin/nix", "", 0644);
  const auto found = Look();
  EXPECT_EQ(Named(found, "tmux").detail, "/opt/tmux");
  EXPECT_EQ(Named(found, "Nix").state, State::kMissing) << "not a program";
  EXPECT_FALSE(Named(found, "Nix").required);
}

TEST_F(MachineTest, KvmSaysWhyNot) {
  EXPECT_THAT(Named(Look(), "KVM").detail, HasSubstr("there is no"));
  Put("/dev/kvm", "", 0666);
  EXPECT_EQ(Named(Look(), "KVM").state, State::kMissing) << "a file is no such device";
  EXPECT_THAT(Named(Look(), "KVM").detail, HasSubstr("makes no virtual machine"));
}

}  // namespace
}  // namespace igloo::cli
