#include "base/seal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "base/unique_fd.h"

namespace igloo {
namespace {

UniqueFd MakeFile() {
  UniqueFd fd(::memfd_create("seal-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::pwrite(fd.get(), "text", 4, 0), 4);
  return fd;
}

TEST(SealFile, NobodyChangesTheFileAnyMore) {
  const UniqueFd fd = MakeFile();
  EXPECT_TRUE(SealFile(fd.get(), "cannot seal it"));
  EXPECT_EQ(::fcntl(fd.get(), F_GET_SEALS), kAllSeals);
  EXPECT_EQ(::pwrite(fd.get(), "else", 4, 0), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST(SealFile, FailsWhileSomebodyCanWrite) {
  const UniqueFd fd = MakeFile();
  void* const writable = ::mmap(nullptr, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(writable, MAP_FAILED);
  const Result<void> sealed = SealFile(fd.get(), "cannot seal it");
  ASSERT_FALSE(sealed);
  EXPECT_EQ(sealed.error().sys_errno, EBUSY);
  ::munmap(writable, 4);
}

TEST(SealFile, WaitsUntilTheKernelIsDoneWithAPage) {
  const UniqueFd fd = MakeFile();
  void* const page = ::mmap(nullptr, 4, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  ASSERT_NE(page, MAP_FAILED);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd out(ends[0]), in(ends[1]);
  iovec pages{page, 4};
  ASSERT_EQ(::vmsplice(in.get(), &pages, 1, 0), 4);
  ASSERT_EQ(::munmap(page, 4), 0);
  ASSERT_EQ(::fcntl(fd.get(), F_ADD_SEALS, kAllSeals), -1) << "control: the page is in use";
  ASSERT_EQ(errno, EBUSY);

  std::thread reader([&] {
    char bytes[4];
    EXPECT_EQ(::read(out.get(), bytes, sizeof bytes), 4);
  });
  EXPECT_TRUE(SealFile(fd.get(), "cannot seal it"));
  reader.join();
}

}  // namespace
}  // namespace igloo
