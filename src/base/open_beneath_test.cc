#include "base/open_beneath.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"

namespace igloo {
namespace {

TEST(OpenBeneath, FindsWhatIsThereAndRefusesEveryWayOut) {
  const auto temp = TempDir::Make(::testing::TempDir());
  ASSERT_TRUE(temp) << temp.error().what;
  const std::filesystem::path top = temp->path();
  std::filesystem::create_directories(top / "in/deep");
  std::ofstream(top / "in/deep/file") << "text";
  std::ofstream(top / "outside") << "secret";
  std::filesystem::create_symlink(top / "outside", top / "in/link");
  std::filesystem::create_directory_symlink(top, top / "in/up");
  const UniqueFd in(::open((top / "in").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  ASSERT_TRUE(in);
  const UniqueFd found = OpenBeneath(in.get(), "deep/file", O_RDONLY);
  ASSERT_TRUE(found);
  EXPECT_EQ(ReadAll(found.get(), 100), "text");
  EXPECT_TRUE(OpenBeneath(in.get(), "", O_RDONLY | O_DIRECTORY));
  for (const std::string way :
       {"../outside", "link", "up/outside", "/etc/passwd", "deep/../../outside"}) {
    EXPECT_FALSE(OpenBeneath(in.get(), way, O_RDONLY)) << way;
    EXPECT_TRUE(::openat(in.get(), way.c_str(), O_RDONLY | O_CLOEXEC) >= 0)
        << way << ": the control";
  }
  const UniqueFd made = OpenBeneath(in.get(), "deep/new", O_WRONLY | O_CREAT | O_EXCL, 0600);
  EXPECT_TRUE(made);
  EXPECT_FALSE(OpenBeneath(in.get(), "none", O_RDONLY));
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace igloo
