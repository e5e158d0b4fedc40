#include "copy/address_space.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace igloo::copy {
namespace {

std::vector<Region> Parsed(const std::string& maps) {
  const auto regions = ParseRegions(maps);
  EXPECT_TRUE(regions) << regions.error().what;
  return regions.value_or(std::vector<Region>{});
}

TEST(ParseRegions, ReadsWhatTheKernelWrites) {
  const auto regions = Parsed(
      "55d0c0a00000-55d0c0a01000 r-xp 00001000 fe:00 1234                       /usr/bin/a b\n"
      "7f0000000000-7f0000002000 rw-p 00000000 00:00 0 \n"
      "7f0000002000-7f0000003000 ---s 00000000 00:01 77                         /dev/zero "
      "(deleted)\n"
      "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
      "7ffc00030000-7ffc00032000 r-xp 00000000 00:00 0                          [vdso]\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n");
  ASSERT_EQ(regions.size(), 6U);
  EXPECT_EQ(regions[0], (Region{.begin = 0x55d0c0a00000,
                                .end = 0x55d0c0a01000,
                                .protection = PROT_READ | PROT_EXEC,
                                .offset = 0x1000,
                                .device = "fe:00 1234",
                                .name = "/usr/bin/a b"}));
  EXPECT_FALSE(regions[0].anonymous());
  EXPECT_TRUE(regions[1].anonymous());
  EXPECT_EQ(regions[1].name, "");
  EXPECT_EQ(regions[1].size(), 0x2000U);
  EXPECT_TRUE(regions[2].shared);
  EXPECT_EQ(regions[2].protection, PROT_NONE);
  EXPECT_FALSE(regions[2].anonymous());
  EXPECT_FALSE(regions[3].kernels());
  EXPECT_TRUE(regions[4].kernels());
  EXPECT_TRUE(regions[5].kernels());
}

TEST(ParseRegions, ReadsThoseOfThisProcess) {
  EXPECT_TRUE(AddressSpace::Open(::getpid()).value().Regions());
  EXPECT_EQ(Parsed("").size(), 0U);
}

/// A process may choose names of its mappings: none of them is the kernel's.
TEST(ParseRegions, NamesOfAProcessAreNotTheKernels) {
  for (const char* name : {"[anon:vdso]", "/[vdso]", "/memfd:[vvar] (deleted)", "[heap]"}) {
    const auto regions =
        Parsed(std::string("1000-2000 rw-p 00000000 00:00 0                   ") + name + "\n");
    ASSERT_EQ(regions.size(), 1U);
    EXPECT_FALSE(regions[0].kernels()) << name;
  }
}

TEST(ParseRegions, FailsOnAnythingElse) {
  for (const char* text : {
           "\n", "x\n", "1000-2000\n", "1000-2000 rw-p\n", "1000-2000 rw-p 0\n",
           "1000-2000 rw-p 00000000 00:00 0",         // no end of line
           "2000-1000 rw-p 00000000 00:00 0 \n",      // backwards
           "1000-1000 rw-p 00000000 00:00 0 \n",      // nothing
           "1001-2000 rw-p 00000000 00:00 0 \n",      // no page
           "1000-2001 rw-p 00000000 00:00 0 \n",      //
           "-1000-2000 rw-p 00000000 00:00 0 \n",     //
           "1000-11111111111111111 rw-p 0 00:00 0\n"  // more than 64 bits
       }) {
    EXPECT_FALSE(ParseRegions(text)) << text;
  }
}

TEST(ParseRegions, FailsOnMoreThanAnInterpreterHas) {
  std::string maps;
  for (int i = 1; i <= 8192; ++i) {
    char line[64];
    std::snprintf(line, sizeof line, "%x000-%x000 rw-p 00000000 00:00 0 \n", i, i + 1);
    maps += line;
  }
  EXPECT_TRUE(ParseRegions(maps));
  EXPECT_FALSE(ParseRegions(maps + "ffff0000-ffff1000 rw-p 00000000 00:00 0 \n"));
}

/// A child of the test with four pages that are known to it.
class AddressSpaceTest : public ::testing::Test {
 protected:
  AddressSpaceTest() {
    place_ = static_cast<char*>(
        ::mmap(nullptr, 4 * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    shared_ = static_cast<char*>(
        ::mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    child_ = ::fork();
    if (child_ == 0) {
      place_[kPageSize] = 'a';
      std::memset(place_ + 3 * kPageSize, 'b', kPageSize);
      ::mprotect(place_ + 3 * kPageSize, kPageSize, PROT_READ);
      shared_[0] = 's';
      ::raise(SIGSTOP);
      ::_exit(place_[3 * kPageSize] == 'c' ? 42 : 7);
    }
    int status = 0;
    ::waitpid(child_, &status, WUNTRACED);
  }
  ~AddressSpaceTest() override {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    ::munmap(place_, 4 * kPageSize);
    ::munmap(shared_, kPageSize);
  }
  static std::uint64_t At(const char* place) { return reinterpret_cast<std::uint64_t>(place); }

  char *place_, *shared_;
  pid_t child_ = -1;
};

TEST_F(AddressSpaceTest, KnowsWhichPagesAreTheProcesss) {
  const auto space = AddressSpace::Open(child_);
  ASSERT_TRUE(space) << space.error().what;
  const Region region{.begin = At(place_), .end = At(place_) + 4 * kPageSize};
  EXPECT_THAT(space->Pages(region).value(),
              ::testing::ElementsAre(Page::kAbsent, Page::kOwn, Page::kAbsent, Page::kOwn));
  const Region shared{.begin = At(shared_), .end = At(shared_) + kPageSize};
  EXPECT_THAT(space->Pages(shared).value(), ::testing::ElementsAre(Page::kFile));
  const auto regions = space->Regions().value();
  EXPECT_TRUE(std::ranges::any_of(regions, [&](const Region& each) {
    return each.begin <= At(shared_) && each.end > At(shared_) && each.shared;
  }));
}

/// Where the user may know at all, which is root's right.
TEST_F(AddressSpaceTest, KnowsWhichPagesTwoProcessesShare) {
  const auto space = AddressSpace::Open(child_);
  const auto own = AddressSpace::Open(::getpid());
  ASSERT_TRUE(space && own);
  const auto same = [&](const char* place) {
    const Region page{.begin = At(place), .end = At(place) + kPageSize};
    return space->Entries(page).value()[0].IsSameAs(own->Entries(page).value()[0]);
  };
  EXPECT_EQ(shared_[0], 's');  // and so it is there
  EXPECT_EQ(same(shared_), ::geteuid() == 0);
  place_[kPageSize] = 'a';
  EXPECT_FALSE(same(place_ + kPageSize)) << "equal, but not the same";
  EXPECT_FALSE(same(place_)) << "there is none";
}

/// Reading what two share since a fork leaves it so: it costs nobody memory.
TEST(AddressSpace, ReadingMakesNoPages) {
  std::string bytes(8U << 20, 'x');
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, WUNTRACED);
  const auto own_kib = [child] {
    std::ifstream file("/proc/" + std::to_string(child) + "/smaps_rollup");
    std::string word;
    for (std::uint64_t kib = 0; file >> word;) {
      if (word == "Private_Dirty:" && file >> kib) return kib;
    }
    return ~std::uint64_t{0};
  };
  const auto space = AddressSpace::Open(child);
  ASSERT_TRUE(space) << space.error().what;
  const std::uint64_t before = own_kib();
  std::string read(bytes.size(), '?');
  ASSERT_TRUE(space->Read(reinterpret_cast<std::uint64_t>(bytes.data()), read.data(), read.size()));
  EXPECT_EQ(read, bytes);
  EXPECT_LT(own_kib(), before + (bytes.size() >> 11)) << "half of it would be too much";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(AddressSpaceTest, ReadsAndWritesAlsoWhatTheProcessMayNot) {
  const auto space = AddressSpace::Open(child_);
  ASSERT_TRUE(space) << space.error().what;
  std::string bytes(2 * kPageSize, '?');
  ASSERT_TRUE(space->Read(At(place_) + 2 * kPageSize, bytes.data(), bytes.size()));
  EXPECT_EQ(bytes, std::string(kPageSize, '\0') + std::string(kPageSize, 'b'));
  ASSERT_TRUE(space->Write(At(place_) + 3 * kPageSize, "c", 1));
  EXPECT_EQ(place_[3 * kPageSize], '\0') << "this process's own is another";
  ::kill(child_, SIGCONT);
  int status = 0;
  ASSERT_EQ(::waitpid(child_, &status, 0), child_);
  child_ = -1;
  EXPECT_EQ(WEXITSTATUS(status), 42) << "the child saw what was written";
}

TEST_F(AddressSpaceTest, FailsWhereNothingIs) {
  const auto space = AddressSpace::Open(child_);
  ASSERT_TRUE(space) << space.error().what;
  char byte = 0;
  EXPECT_FALSE(space->Read(0, &byte, 1));
  EXPECT_FALSE(space->Write(0, &byte, 1));
  EXPECT_FALSE(space->Read(~0ULL, &byte, 1));
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  EXPECT_FALSE(space->Read(At(place_), &byte, 1));
  EXPECT_FALSE(AddressSpace::Open(child_));
  child_ = -1;
}

}  // namespace
}  // namespace igloo::copy
