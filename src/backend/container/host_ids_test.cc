#include "backend/container/host_ids.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>
#include <vector>

#include "base/temp_dir.h"

namespace igloo::backend::container {
namespace {

using ::testing::HasSubstr;

TEST(LeaseBlockTest, NoTwoContainersShareAnId) {
  const TempDir place = TempDir::Make("/tmp").value();
  std::vector<IdBlock> held;
  std::set<std::uint32_t> firsts;
  for (int i = 0; i < 100; ++i) {
    auto block = LeaseBlock(place.path() + "/igloo");
    ASSERT_TRUE(block) << block.error().what;
    EXPECT_EQ((block->first - kFirstId) % kIdsOfContainer, 0U);
    EXPECT_GE(block->first, kFirstId);
    EXPECT_LE(block->first, 0x6FFF0000U) << "beyond what systemd keeps for containers";
    firsts.insert(block->first);
    held.push_back(*std::move(block));
  }
  EXPECT_EQ(firsts.size(), 100U);
}

TEST(LeaseBlockTest, AFileThatOthersCouldLockIsRefused) {
  const TempDir place = TempDir::Make("/tmp").value();
  const std::string directory = place.path() + "/igloo";
  ASSERT_EQ(::symlink("/etc", directory.c_str()), 0);
  const auto refused = LeaseBlock(directory);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr(directory));
}

TEST(LeaseBlockTest, ItsLockEndsWithItsLastHolder) {
  const TempDir place = TempDir::Make("/tmp").value();
  const std::string directory = place.path() + "/igloo";
  auto block = LeaseBlock(directory).value();
  const UniqueFd probe(::open((directory + "/container-ids").c_str(), O_RDWR | O_CLOEXEC));
  struct flock range{};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = (block.first - kFirstId) / kIdsOfContainer;
  range.l_len = 1;
  UniqueFd copy(::fcntl(block.lease.get(), F_DUPFD_CLOEXEC, 3));
  block.lease.Reset();
  EXPECT_NE(::fcntl(probe.get(), F_OFD_SETLK, &range), 0) << "somebody holds it still";
  copy.Reset();
  EXPECT_EQ(::fcntl(probe.get(), F_OFD_SETLK, &range), 0);
}

}  // namespace
}  // namespace igloo::backend::container
