#include "agent/sockets/ssh_filter.h"

#include <gmock/gmock.h>

namespace igloo::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SshKey KeyNamed(const std::string& comment) {
  SshKey key{.comment = comment};
  PutSshText(key.blob, "ssh-ed25519");
  PutSshText(key.blob, comment + " in thirty-two bytes");
  return key;
}

std::string SignRequest(const SshKey& key, std::string_view data = "data") {
  std::string message(1, static_cast<char>(ssh_message::kSign));
  PutSshText(message, key.blob);
  PutSshText(message, data);
  PutSshNumber(message, 0);
  return message;
}

std::string Signature() {
  std::string message(1, static_cast<char>(ssh_message::kSignature));
  PutSshText(message, "signature");
  return message;
}

std::string Extension(std::string_view name, std::string_view more = {}) {
  std::string message(1, static_cast<char>(ssh_message::kExtension));
  PutSshText(message, name);
  return message + std::string(more);
}

std::string Byte(std::uint8_t byte) { return std::string(1, static_cast<char>(byte)); }

class Filtered : public ::testing::Test {
 protected:
  const SshKey work_ = KeyNamed("work"), home_ = KeyNamed("home");
  std::vector<std::string> notes_ = {};
  SshFilter filter_{{work_}, [this](std::string_view event, std::string_view what) {
                      notes_.push_back(std::string(event) + ": " + std::string(what));
                    }};

  Passed Ask(const std::string& message) { return filter_.FromClient(SshFrame(message)).value(); }
  Passed Answer(const std::string& message) {
    return filter_.FromServer(SshFrame(message)).value();
  }
};

TEST_F(Filtered, ListsTheGrantedKeysAlone) {
  EXPECT_EQ(Ask(Byte(ssh_message::kList)).to_server, SshFrame(Byte(ssh_message::kList)));
  const Passed passed = Answer(EncodeSshKeys({home_, work_, KeyNamed("new")}));
  EXPECT_EQ(passed.to_client, SshFrame(EncodeSshKeys({work_})));
}

TEST_F(Filtered, SignsWithAGrantedKeyAndSaysSo) {
  EXPECT_EQ(Ask(SignRequest(work_)).to_server, SshFrame(SignRequest(work_)));
  EXPECT_EQ(Answer(Signature()).to_client, SshFrame(Signature()));
  EXPECT_THAT(notes_, ElementsAre("signed: " + FingerprintOf(work_) + " work"));
}

TEST_F(Filtered, NeverSignsWithAnotherKey) {
  const Passed passed = Ask(SignRequest(home_));
  EXPECT_EQ(passed.to_server, "");
  EXPECT_EQ(passed.to_client, SshFrame(Byte(ssh_message::kFailure)));
  EXPECT_THAT(notes_, ElementsAre("refused: sign with a key that was not granted"));
}

TEST_F(Filtered, RefusesEverythingElseThatAnAgentCanDo) {
  for (int type = 0; type < 256; ++type) {
    const auto byte = static_cast<std::uint8_t>(type);
    if (byte == ssh_message::kList || byte == ssh_message::kSign ||
        byte == ssh_message::kExtension) {
      continue;
    }
    const Passed passed = Ask(Byte(byte) + "and more");
    EXPECT_EQ(passed.to_server, "") << type;
    EXPECT_EQ(passed.to_client, SshFrame(Byte(ssh_message::kFailure))) << type;
  }
}

TEST_F(Filtered, BindsSessionsAndRefusesOtherExtensions) {
  const std::string bind = Extension("session-bind@openssh.com", "which the agent reads");
  EXPECT_EQ(Ask(bind).to_server, SshFrame(bind));
  EXPECT_EQ(Answer(Byte(ssh_message::kSuccess)).to_client, SshFrame(Byte(ssh_message::kSuccess)));
  const Passed refused = Ask(Extension("restrict-destination-v00@openssh.com"));
  EXPECT_EQ(refused.to_server, "");
  EXPECT_EQ(refused.to_client, SshFrame(Byte(ssh_message::kExtensionFailure)));
}

TEST_F(Filtered, TellsItselfWhichExtensionsPass) {
  const Passed passed = Ask(Extension("query"));
  EXPECT_EQ(passed.to_server, "");
  EXPECT_NE(passed.to_client.find("session-bind@openssh.com"), std::string::npos);
}

TEST_F(Filtered, AnswersInTheOrderOfTheRequests) {
  const Passed first =
      filter_.FromClient(SshFrame(SignRequest(work_)) + SshFrame(Byte(19))).value();
  EXPECT_EQ(first.to_server, SshFrame(SignRequest(work_)));
  EXPECT_EQ(first.to_client, "") << "the refusal waits for the signature";
  EXPECT_EQ(Answer(Signature()).to_client,
            SshFrame(Signature()) + SshFrame(Byte(ssh_message::kFailure)));
}

TEST_F(Filtered, UnderstandsMessagesInAnyPieces) {
  std::string to_server;
  for (const char c : SshFrame(SignRequest(work_))) {
    to_server += filter_.FromClient({&c, 1}).value().to_server;
  }
  EXPECT_EQ(to_server, SshFrame(SignRequest(work_)));
}

TEST_F(Filtered, EndsTheConnectionOfWhoeverSpeaksAnotherLanguage) {
  EXPECT_FALSE(filter_.FromClient(std::string(4, '\0'))) << "a message of no bytes";
  EXPECT_FALSE(SshFilter({}, {}).FromClient("\xff\xff\xff\xff"));
  EXPECT_FALSE(SshFilter({}, {}).FromClient(SshFrame(SignRequest(work_) + "more")));
  EXPECT_FALSE(SshFilter({}, {}).FromClient(SshFrame(Byte(ssh_message::kList) + "more")));
  EXPECT_FALSE(SshFilter({}, {}).FromServer(SshFrame(Signature()))) << "which nobody asked for";
}

TEST_F(Filtered, ReadsNoFurtherThanTwoMessagesAhead) {
  (void)Ask(SignRequest(work_));
  const std::string large = SshFrame(std::string(kMostSshMessage, 'x'));
  EXPECT_TRUE(filter_.FromClient(large));
  EXPECT_FALSE(filter_.FromClient(large + large));
}

TEST_F(Filtered, BelievesNoAnswerThatDoesNotFit) {
  (void)Ask(Byte(ssh_message::kList));
  EXPECT_FALSE(filter_.FromServer(SshFrame(Signature())));
  (void)Ask(SignRequest(work_));
  EXPECT_FALSE(SshFilter({work_}, {}).FromServer(SshFrame(EncodeSshKeys({}))));
}

TEST(SshKeys, ADamagedListIsAnErrorAndNoList) {
  const std::string whole = EncodeSshKeys({KeyNamed("a"), KeyNamed("b")});
  ASSERT_EQ(ParseSshKeys(whole)->size(), 2U);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseSshKeys(std::string_view(whole).substr(0, size))) << size;
  }
  EXPECT_FALSE(ParseSshKeys(whole + "x"));
  std::string many(1, static_cast<char>(ssh_message::kKeys));
  PutSshNumber(many, 0xffffffff);
  EXPECT_FALSE(ParseSshKeys(many));
}

TEST(SshKeys, HaveTheFingerprintThatSshAddShows) {
  // ssh-keygen -lf of this very key.
  const SshKey key{.blob =
                       std::string("\0\0\0\x0bssh-ed25519\0\0\0\x20", 19) + std::string(32, 'A')};
  EXPECT_EQ(TypeOf(key), "ssh-ed25519");
  EXPECT_EQ(FingerprintOf(key), "SHA256:ycecTFElO4tMaWgqfHQDEUjUete0Tsl0wmvU/kkDXFc");
}

}  // namespace
}  // namespace igloo::agent
