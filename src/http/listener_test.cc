#include "http/listener.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/temp_dir.h"

namespace igloo::http {
namespace {

TEST(HttpListener, AFreePortIsTakenOnBothLoopbacks) {
  for (const char* host : {"127.0.0.1", "::1"}) {
    const auto listener = Listener::Open(TcpAddress{.host = host});
    ASSERT_TRUE(listener) << listener.error().what;
    const auto& taken = std::get<TcpAddress>(listener->address());
    EXPECT_EQ(taken.host, host);
    EXPECT_NE(taken.port, 0);
    const auto second = Listener::Open(taken);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().sys_errno, EADDRINUSE);
    EXPECT_NE(second.error().hint, "");
  }
}

TEST(HttpListener, NamesAreNoAddresses) {
  const auto listener = Listener::Open(TcpAddress{.host = "localhost"});
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, Errc::kInvalidArgument);
}

TEST(HttpListener, ANameIsASocketThatGoesWithIt) {
  const TempDir directory = TempDir::Make("/tmp").value();
  const UnixSocket socket{directory.path() + "/socket"};
  {
    const auto listener = Listener::Open(socket);
    ASSERT_TRUE(listener) << listener.error().what;
    EXPECT_EQ(listener->address(), Address(socket));
    EXPECT_TRUE(std::filesystem::is_socket(socket.path));
  }
  EXPECT_FALSE(std::filesystem::exists(socket.path));
}

}  // namespace
}  // namespace igloo::http
