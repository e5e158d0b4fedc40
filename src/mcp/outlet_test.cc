#include "mcp/outlet.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <numeric>

#include "base/file.h"
#include "base/temp_dir.h"

namespace igloo::mcp {
namespace {

/// All that goes without waiting, as a server would: how much it was.
std::size_t WriteAllNow(const Outlet& outlet, std::deque<std::string> queue) {
  std::size_t total = 0, begun = 0;
  while (!queue.empty()) {
    const ssize_t count = outlet.WriteSome(queue, begun);
    EXPECT_GE(count, 0);
    if (count <= 0) break;
    total += static_cast<std::size_t>(count);
    for (begun += static_cast<std::size_t>(count);
         !queue.empty() && begun >= queue.front().size();) {
      begun -= queue.front().size();
      queue.pop_front();
    }
  }
  return total;
}

const std::deque<std::string> kLines = {"one\n", std::string(5000, 'x') + "\n", "three\n"};

std::string Joined() { return std::accumulate(kLines.begin(), kLines.end(), std::string()); }

class OutletTest : public ::testing::TestWithParam<FdPair (*)()> {};

TEST_P(OutletTest, WritesInOrderAndStopsWhereAnotherWouldWait) {
  FdPair pair = GetParam()();
  const int flags = ::fcntl(pair.second.get(), F_GETFL);
  const Outlet outlet(pair.second.get());
  EXPECT_EQ(WriteAllNow(outlet, kLines), Joined().size());
  std::string heard(Joined().size(), '\0');
  ASSERT_EQ(::read(pair.first.get(), heard.data(), heard.size()),
            static_cast<ssize_t>(heard.size()));
  EXPECT_EQ(heard, Joined());

  const std::size_t fits = WriteAllNow(outlet, {std::string(16U << 20, 'y')});
  EXPECT_GT(fits, 0U);
  EXPECT_LT(fits, 16U << 20);
  EXPECT_EQ(::fcntl(pair.second.get(), F_GETFL), flags) << "others may share them";
}

TEST_P(OutletTest, SaysWhenNobodyReads) {
  ::signal(SIGPIPE, SIG_IGN);
  FdPair pair = GetParam()();
  const Outlet outlet(pair.second.get());
  pair.first.Reset();
  EXPECT_EQ(outlet.WriteSome(kLines, 0), -1);
}

INSTANTIATE_TEST_SUITE_P(Kinds, OutletTest,
                         ::testing::Values(
                             +[] { return MakePipe().value(); },
                             +[] { return MakeSocketPair(SOCK_STREAM).value(); }));

TEST(Outlet, WritesToFiles) {
  const TempDir directory = TempDir::Make(::testing::TempDir()).value();
  const std::string path = directory.path() + "/file";
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_EQ(WriteAllNow(Outlet(file.get()), kLines), Joined().size());
  EXPECT_EQ(ReadFile(path, 1U << 20), Joined());
}

}  // namespace
}  // namespace igloo::mcp
