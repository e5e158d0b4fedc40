#include "agent/sockets/served_sockets.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/temp_dir.h"
#include "base/unix_listener.h"

namespace igloo::agent {
namespace {

SshKey KeyNamed(const std::string& comment) {
  SshKey key{.comment = comment};
  PutSshText(key.blob, "ssh-ed25519");
  PutSshText(key.blob, comment);
  return key;
}

void WaitFor(int fd) {
  pollfd ready{fd, POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, -1), 1);
}

/// An agent with two keys that answers one request of each client.
class Served : public ::testing::Test {
 protected:
  Served() {
    sockets_ = ServedSockets::Open({{.path = place_.path() + "/box",
                                     .upstream = place_.path() + "/agent",
                                     .keys = {KeyNamed("one")}}})
                   .value();
    sockets_->Serve(loop_, {});
  }
  ~Served() override {
    loop_.stop();
    if (server_.joinable()) server_.join();
    if (agent_.joinable()) agent_.join();
  }
  void StartServing() {
    server_ = std::thread([this] { loop_.run(); });
  }
  void StartAgent() {
    agent_ = std::thread([this] {
      WaitFor(agent_listener_->fd());
      const UniqueFd client = *AcceptClient(agent_listener_->fd()).value();
      std::string buffer;
      for (char byte = 0; !TakeSshFrame(buffer).value();) {
        WaitFor(client.get());
        if (::read(client.get(), &byte, 1) == 1) buffer += byte;
      }
      const std::string answer = SshFrame(EncodeSshKeys({KeyNamed("one"), KeyNamed("two")}));
      EXPECT_TRUE(WriteAll(client.get(), answer));
    });
  }

  TempDir place_ = *TempDir::Make(::testing::TempDir());
  std::optional<UnixListener> agent_listener_{UnixListener::Open(place_.path() + "/agent").value()};
  boost::asio::io_context loop_{1};
  std::unique_ptr<ServedSockets> sockets_;
  std::thread server_ = {}, agent_ = {};
};

TEST_F(Served, AClientSeesTheGrantedKeysOfTheRealAgent) {
  StartServing();
  StartAgent();
  const auto keys = ListSshKeys(place_.path() + "/box");
  ASSERT_TRUE(keys) << keys.error().what;
  EXPECT_THAT(*keys, ::testing::ElementsAre(KeyNamed("one")));
}

TEST_F(Served, TheSocketIsOpenToTheBoxInADirectoryThatIsNot) {
  struct stat socket{}, directory{};
  ASSERT_EQ(::stat((place_.path() + "/box").c_str(), &socket), 0);
  ASSERT_EQ(::stat(place_.path().c_str(), &directory), 0);
  EXPECT_EQ(socket.st_mode & 0777U, 0666U);
  EXPECT_EQ(directory.st_mode & 0777U, 0700U);
}

TEST_F(Served, WithoutTheAgentAConnectionEndsAndTheNextOneIsHeard) {
  agent_listener_.reset();
  StartServing();
  EXPECT_FALSE(ListSshKeys(place_.path() + "/box"));
  EXPECT_FALSE(ListSshKeys(place_.path() + "/box"));
}

}  // namespace
}  // namespace igloo::agent
