#include "base/unix_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "base/replace_file.h"
#include "base/temp_dir.h"

namespace igloo {
namespace {

class UnixListenerTest : public ::testing::Test {
 protected:
  UniqueFd Connect() const {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::ranges::copy(path_, name.sun_path);
    if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) != 0) fd.Reset();
    return fd;
  }
  static bool Takes(const UnixListener& listener) {
    pollfd state{listener.fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&state, 1, -1), 1);
    return listener.Accept().value().has_value();
  }
  Errc Refused() const {
    const auto opened = UnixListener::Open(path_);
    if (opened) return Errc::kInternal;
    EXPECT_NE(opened.error().hint, "") << opened.error().what;
    return opened.error().code;
  }

  TempDir directory_ = TempDir::Make("/tmp").value();
  std::string path_ = directory_.path() + "/socket";
};

TEST_F(UnixListenerTest, APathMayBeLongerThanTheKernelTakes) {
  const std::string deep = directory_.path() + "/" + std::string(120, 'd');
  ASSERT_EQ(::mkdir(deep.c_str(), 0700), 0);
  const std::string path = deep + "/socket";
  {
    const auto listener = UnixListener::Open(path);
    ASSERT_TRUE(listener) << listener.error().what;
    const auto client = ConnectToOwn(path);
    ASSERT_TRUE(client) << client.error().what;
    EXPECT_TRUE(Takes(*listener));
    EXPECT_FALSE(UnixListener::Open(path)) << "a server is there already";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(UnixListener::Open(deep + "/" + std::string(100, 's')))
      << "the last name alone has to fit";
}

TEST_F(UnixListenerTest, ASocketIsItsOwnersAndGoesWithTheServer) {
  const mode_t old = ::umask(0);
  {
    const auto listener = UnixListener::Open(path_);
    ASSERT_TRUE(listener) << listener.error().what;
    struct stat info{};
    ASSERT_EQ(::lstat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0600U);
    const UniqueFd client = Connect();
    ASSERT_TRUE(client);
    EXPECT_TRUE(Takes(*listener));
  }
  ::umask(old);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixListenerTest, WhatADeadServerLeftIsReplacedAndALivingOneStays) {
  {
    const UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::ranges::copy(path_, name.sun_path);
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
  }
  ASSERT_TRUE(std::filesystem::exists(path_));
  const auto listener = UnixListener::Open(path_);
  ASSERT_TRUE(listener) << listener.error().what;
  const auto second = UnixListener::Open(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().sys_errno, EADDRINUSE);
  EXPECT_TRUE(Connect()) << "the first is still there";
}

TEST_F(UnixListenerTest, TheSocketOfASuccessorStays) {
  auto first = std::make_unique<UnixListener>(UnixListener::Open(path_).value());
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  const auto second = UnixListener::Open(path_);
  ASSERT_TRUE(second) << second.error().what;
  first.reset();
  EXPECT_TRUE(Connect());
}

TEST_F(UnixListenerTest, OthersFilesAndDirectoriesAreLeftAlone) {
  ASSERT_TRUE(ReplaceFile(path_, "kept"));
  EXPECT_EQ(Refused(), Errc::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::exists(path_));
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  for (const mode_t mode : {0770U, 0707U, 01777U}) {
    ASSERT_EQ(::chmod(directory_.path().c_str(), mode), 0);
    EXPECT_EQ(Refused(), Errc::kPermissionDenied);
  }
  path_ = directory_.path() + "/none/socket";
  EXPECT_EQ(Refused(), Errc::kNotFound);
  path_ = "relative";
  EXPECT_EQ(Refused(), Errc::kInvalidArgument);
}

TEST_F(UnixListenerTest, OnlyItsUserAndRootMayCall) {
  EXPECT_TRUE(MayCall(1000, 1000));
  EXPECT_TRUE(MayCall(0, 1000));
  EXPECT_FALSE(MayCall(1001, 1000));
  EXPECT_FALSE(MayCall(1000, 0));
  if (::geteuid() != 0) return;  // nobody else can be played
  const auto listener = UnixListener::Open(path_);
  ASSERT_TRUE(listener) << listener.error().what;
  // The door is opened wide, so that only the look at who comes is left.
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  UniqueFd stranger;
  std::jthread([&] {
    // The thread's own: the library's function would change all of them.
    ASSERT_EQ(::syscall(SYS_setresuid, 65534, 65534, 65534), 0);
    stranger = Connect();
  }).join();
  ASSERT_TRUE(stranger);
  EXPECT_FALSE(Takes(*listener));
  const UniqueFd own = Connect();
  EXPECT_TRUE(Takes(*listener)) << "control";
}

}  // namespace
}  // namespace igloo
