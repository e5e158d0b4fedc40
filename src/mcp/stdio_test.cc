#include "mcp/stdio.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <thread>

#include "base/file.h"
#include "base/lines.h"
#include "mcp/testing.h"

namespace igloo::mcp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Legacy;

/// A server on a thread of its own, and the two ends that its client holds.
class Served {
 public:
  enum class Over { kPipes, kSockets };

  explicit Served(Over over = Over::kPipes) {
    ::signal(SIGPIPE, SIG_IGN);
    FdPair to = over == Over::kPipes ? MakePipe().value() : MakeSocketPair(SOCK_STREAM).value();
    FdPair from = over == Over::kPipes ? MakePipe().value() : MakeSocketPair(SOCK_STREAM).value();
    in_ = std::move(to.second);
    out_ = std::move(from.first);
    server_ =
        std::make_unique<StdioServer>(loop_, core_, std::move(to.first), std::move(from.second));
    boost::asio::co_spawn(loop_, server_->Serve(), boost::asio::detached);
    thread_ = std::jthread([this] { loop_.run(); });
  }
  ~Served() { CloseInput(); }

  void Say(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(in_.get(), bytes.data(), bytes.size());
      ASSERT_GT(count, 0);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  /// The next line, or "end".
  std::string Hear() {
    for (;;) {
      if (auto line = lines_.Next()) return line->text;
      char buffer[4096];
      const ssize_t count = ::read(out_.get(), buffer, sizeof buffer);
      if (count <= 0) return "end";
      lines_.Append({buffer, static_cast<std::size_t>(count)});
    }
  }
  void CloseInput() { in_.Reset(); }
  void CloseOutput() { out_.Reset(); }
  /// Until the server has nothing left to do.
  void Join() { thread_.join(); }
  int in() const { return in_.get(); }
  testing::FakeService& service() { return service_; }
  ServerCore& core() { return *core_; }

 private:
  testing::FakeService service_ = {};
  boost::asio::io_context loop_ = {};
  std::shared_ptr<ServerCore> core_ = std::make_shared<ServerCore>(loop_.get_executor(), service_);
  std::unique_ptr<StdioServer> server_ = {};
  UniqueFd in_ = {}, out_ = {};
  LineBuffer lines_ = LineBuffer(64U << 20);
  std::jthread thread_ = {};
};

class Stdio : public ::testing::TestWithParam<Served::Over> {};

TEST_P(Stdio, AnswersLineByLineAndEndsWithItsInput) {
  Served served(GetParam());
  served.Say(Legacy("1", "ping") + "\n\r\n" + Legacy("2", "ping") + "\r\n");
  EXPECT_EQ(served.Hear(), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(served.Hear(), R"({"jsonrpc":"2.0","id":2,"result":{}})");
  served.CloseInput();
  EXPECT_EQ(served.Hear(), "end");
  served.Join();
}

TEST_P(Stdio, AnswersWhatCameJustBeforeTheEnd) {
  Served served(GetParam());
  served.Say(Legacy("1", "ping") + "\n" + Legacy("2", "tools/list") + "\n" + Legacy("3", "ping"));
  served.CloseInput();
  EXPECT_THAT(served.Hear(), HasSubstr("\"id\":1"));
  EXPECT_THAT(served.Hear(), HasSubstr("\"id\":2"));
  EXPECT_EQ(served.Hear(), "end") << "a line without its end is none";
}

TEST_P(Stdio, GoesOnAfterEverythingThatIsNoMessage) {
  Served served(GetParam());
  const std::string huge = R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(17U << 20, 'x');
  const std::string_view bad[] = {"not JSON", "[]", "{\"\xff\":1}",
                                  R"({"jsonrpc":"2.0","id":null})", huge};
  for (const std::string_view line : bad) {
    served.Say(std::string(line) + "\n" + Legacy("7", "ping") + "\n");
    EXPECT_THAT(served.Hear(), HasSubstr("\"error\""));
    EXPECT_EQ(served.Hear(), R"({"jsonrpc":"2.0","id":7,"result":{}})");
  }
}

TEST_P(Stdio, WhatCannotBeReadIsAnsweredToItsOwnId) {
  Served served(GetParam());
  // As the TypeScript SDK writes it: the id behind everything else.
  const std::string end = R"("}},"jsonrpc":"2.0","id":5})";
  const std::string begin =
      R"({"method":"tools/call","params":{"name":"echo","arguments":{"text":")";
  for (const std::string& text : {std::string(17U << 20, 'x'), std::string("\xff"),
                                  std::string(R"(\q)"), std::string("\x01")}) {
    served.Say(begin + text + end + "\n");
    EXPECT_THAT(served.Hear(), HasSubstr(R"("id":5,"error")"));
  }
  served.Say(begin + R"(\ud800)" + end + "\n");
  EXPECT_THAT(served.Hear(), AllOf(HasSubstr(R"("id":5,"result")"), HasSubstr("\ufffd")));
}

TEST_P(Stdio, TheEndCancelsWhatRunsAndLeavesNothing) {
  Served served(GetParam());
  served.Say(Legacy("1", "tools/call", R"({"name":"wait"})") + "\n" + Legacy("2", "ping") + "\n");
  EXPECT_THAT(served.Hear(), HasSubstr("\"id\":2"));
  served.CloseInput();
  EXPECT_EQ(served.Hear(), "end");
  served.Join();  // the loop has run out of work
  EXPECT_EQ(served.service().cancelled, 1);
  EXPECT_EQ(served.core().running(), 0U);
}

TEST_P(Stdio, AClientThatReadsNoMoreEndsIt) {
  Served served(GetParam());
  served.Say(Legacy("1", "tools/call", R"({"name":"wait"})") + "\n");
  served.CloseOutput();
  served.Say(Legacy("2", "ping") + "\n");
  served.Join();
  EXPECT_EQ(served.service().cancelled, 1);
}

TEST_P(Stdio, AClientThatSendsFasterThanItReadsLosesNothing) {
  Served served(GetParam());
  // Several times more than is ever queued, in both directions.
  constexpr int kCalls = 12;
  std::jthread sender([&] {
    for (int i = 0; i < kCalls; ++i) {
      served.Say(
          Legacy(std::to_string(i), "tools/call",
                 R"({"name":"big","arguments":{"text":")" + std::string(100'000, 'y') + "\"}}") +
          "\n");
    }
  });
  for (int i = 0; i < kCalls; ++i) EXPECT_THAT(served.Hear(), HasSubstr("\"result\""));
}

TEST_P(Stdio, WhatCameAtOnceIsNotAnsweredAtOnceToAClientThatDoesNotRead) {
  Served served(GetParam());
  served.service().resources = {{.uri = "r://1", .description = std::string(1U << 20, 'x')}};
  std::string all;
  constexpr int kRequests = 64;
  for (int i = 0; i < kRequests; ++i) all += Legacy(std::to_string(i), "resources/list") + "\n";
  served.Say(all);
  EXPECT_THAT(served.Hear(), HasSubstr("r://1"));
  served.CloseOutput();
  served.Join();
  EXPECT_LT(served.service().listed, kRequests / 4);
}

INSTANTIATE_TEST_SUITE_P(Transports, Stdio,
                         ::testing::Values(Served::Over::kPipes, Served::Over::kSockets),
                         [](const auto& param) {
                           return param.param == Served::Over::kPipes ? "Pipes" : "Sockets";
                         });

}  // namespace
}  // namespace igloo::mcp
