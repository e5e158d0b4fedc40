#include "jail/identity.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/temp_dir.h"
#include "kernel/calls.h"

namespace igloo::jail {
namespace {

/// A /proc of plain files, in which process 7 has the named ones.
class FakeProc {
 public:
  explicit FakeProc(std::initializer_list<const char*> names) {
    ::mkdir((temp_.path() + "/7").c_str(), 0700);
    for (const char* name : names) std::ofstream(PathOf(name));
  }
  int fd() const { return fd_.get(); }
  std::string Text(const char* name) const {
    std::ifstream file(PathOf(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string PathOf(const std::string& name) const { return temp_.path() + "/7/" + name; }
  TempDir temp_ = TempDir::Make("/tmp").value();
  kernel::ScopedFd fd_{::open(temp_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
};

TEST(IdMaps, SayInnerOuterAndCountOfUsersAndGroups) {
  const FakeProc proc{"setgroups", "uid_map", "gid_map"};
  ASSERT_TRUE(WriteMaps(proc.fd(), 7, {{1000, 1001}, {268435456, 300}, 256}));
  EXPECT_EQ(proc.Text("uid_map"), "1000 268435456 256");
  EXPECT_EQ(proc.Text("gid_map"), "1001 300 256");
}

TEST(IdMaps, TakeTheRightToSetGroupsAwayFirst) {
  const FakeProc proc{"setgroups", "uid_map", "gid_map"};
  ASSERT_TRUE(WriteMaps(proc.fd(), 7, {{1, 1}, {2, 2}, 1}));
  EXPECT_EQ(proc.Text("setgroups"), "deny");
  // Where that cannot be, nothing is mapped.
  const FakeProc without{"uid_map", "gid_map"};
  EXPECT_FALSE(WriteMaps(without.fd(), 7, {{1, 1}, {2, 2}, 1}));
  EXPECT_EQ(without.Text("uid_map"), "");
}

TEST(IdMaps, FailWhereAFileIsMissing) {
  const FakeProc proc{"setgroups", "uid_map"};
  EXPECT_FALSE(WriteMaps(proc.fd(), 7, {{1, 1}, {2, 2}, 1}));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(WriteMaps(proc.fd(), 8, {{1, 1}, {2, 2}, 1}));
}

TEST(HostIds, OfTwoLaunchersNeverOverlap) {
  constexpr uint32_t kBase = ops::kDefaultHostIdBase;
  for (const pid_t pid : {1, 2, 4096, (1 << 22) - 2}) {
    EXPECT_EQ(BlockOf(kBase, pid + 1) - BlockOf(kBase, pid), kBlockSize) << pid;
  }
  EXPECT_GT(BlockOf(kBase, (1 << 22) - 1), kBase) << "the last block wraps around";
}

}  // namespace
}  // namespace igloo::jail
