#include "session/driver_channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "base/file.h"
#include "session/asio.h"

namespace igloo::session {
namespace {

using ::testing::ElementsAre;

class DriverChannelTest : public ::testing::Test {
 protected:
  DriverChannelTest() {
    FdPair orders = MakePipe().value(), answers = MakePipe().value();
    orders_ = std::move(orders.first);
    ::fcntl(orders_.get(), F_SETFL, O_NONBLOCK);
    answers_ = std::move(answers.second);
    channel_->Open(std::move(orders.second), std::move(answers.first));
  }
  ~DriverChannelTest() override {
    channel_->Close();
    loop_.poll();
  }

  void Say(std::string_view words) { ASSERT_TRUE(WriteAll(answers_.get(), words)); }
  /// What the driver finds in its pipe, of this many bytes at most.
  std::string Read(std::size_t most) {
    std::string bytes(most, '\0');
    const ssize_t count = ::read(orders_.get(), bytes.data(), bytes.size());
    bytes.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return bytes;
  }

  boost::asio::io_context loop_ = {};
  std::vector<std::string> heard_ = {};
  bool listens_ = true;
  std::shared_ptr<DriverChannel> channel_ =
      std::make_shared<DriverChannel>(loop_, [this](Result<Said> came) {
        heard_.push_back(!came ? "nonsense"
                         : std::holds_alternative<said::Ready>(*came)
                             ? "ready"
                             : "exit " + std::to_string(std::get<said::Done>(*came).status));
        return listens_;
      });
  UniqueFd orders_ = {}, answers_ = {};  ///< the driver's ends
};

TEST_F(DriverChannelTest, AnswersAreHeardWhenTheyAreAskedForAndAsTheyCome) {
  Say("exit 1 7\n");
  EXPECT_TRUE(channel_->Listen());
  channel_->Watch();
  Say("exit 2 8\n");
  while (heard_.size() < 2) loop_.run_one();
  EXPECT_THAT(heard_, ElementsAre("exit 7", "exit 8"));
}

TEST_F(DriverChannelTest, NobodyListensOnAfterNonsense) {
  Say("exit 1 0\nwhatever this is\nexit 2 0\n");
  EXPECT_FALSE(channel_->Listen());
  EXPECT_THAT(heard_, ElementsAre("exit 0", "nonsense"));
}

TEST_F(DriverChannelTest, WhatOneThatEndedSaidIsForgotten) {
  Say("exit 1 0\nexit 2");
  channel_->Forget();
  Say("exit 3 4\n");
  EXPECT_TRUE(channel_->Listen());
  EXPECT_THAT(heard_, ElementsAre("exit 4"));
}

TEST_F(DriverChannelTest, OrdersFollowEachOtherWhenThePipeIsFull) {
  const std::string large(1U << 20, 'a');
  channel_->Send(large);
  channel_->Send("b");
  std::string came;
  while (came.size() < large.size() + 1) {
    came += Read(1U << 16);
    loop_.poll();
  }
  EXPECT_EQ(came, large + "b");
}

TEST_F(DriverChannelTest, TheNextInterpreterDoesNotGetTheRestOfAnOrder) {
  channel_->Send(std::string(1U << 20, 'a'));
  loop_.poll();
  channel_->DropOrders();
  channel_->Send("b");
  std::string came;
  while (!came.ends_with("b")) {
    came += Read(1U << 16);
    loop_.poll();
  }
  EXPECT_LT(came.size(), 1U << 20);
}

}  // namespace
}  // namespace igloo::session
