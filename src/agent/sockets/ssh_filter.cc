#include "agent/sockets/ssh_filter.h"

#include <algorithm>
#include <utility>

namespace igloo::agent {
namespace {

using namespace ssh_message;

constexpr std::string_view kSessionBind = "session-bind@openssh.com";

/// For the record of what was refused.
std::string NameOf(std::uint8_t request) {
  constexpr std::pair<std::uint8_t, std::string_view> kNames[] = {
      {9, "remove all keys"},  {17, "add a key"},        {18, "remove a key"},
      {19, "remove all keys"}, {20, "add a smartcard"},  {21, "remove a smartcard"},
      {22, "lock the agent"},  {23, "unlock the agent"}, {25, "add a key"},
      {26, "add a smartcard"},
  };
  for (const auto& [number, name] : kNames) {
    if (number == request) return std::string(name);
  }
  return "request " + std::to_string(request);
}

std::string Single(std::uint8_t byte) { return std::string(1, static_cast<char>(byte)); }

std::unexpected<Error> Malformed() {
  return Fail(Errc::kProtocol, "a message for ssh-agent cannot be understood");
}

}  // namespace

SshFilter::SshFilter(std::vector<SshKey> keys, Note note)
    : keys_(std::move(keys)), note_(std::move(note)) {}

Result<Passed> SshFilter::FromClient(std::string_view bytes) {
  requests_ += bytes;
  Passed passed;
  IGLOO_TRY(HandleRequests(passed));
  // Whoever does not wait for an answer has sent one more request at the most.
  if (requests_.size() > 2 * kMostSshMessage) {
    return Fail(Errc::kExhausted, "requests for ssh-agent come without waiting for answers");
  }
  return passed;
}

Result<Passed> SshFilter::FromServer(std::string_view bytes) {
  replies_ += bytes;
  Passed passed;
  for (;;) {
    IGLOO_ASSIGN(const std::optional<std::string> message, TakeSshFrame(replies_));
    if (!message) break;
    if (pending_ == Pending::kNothing) {
      return Fail(Errc::kProtocol, "the ssh-agent answers what nobody asked");
    }
    IGLOO_ASSIGN(const std::string reply, HandleReply(*message));
    passed.to_client += SshFrame(reply);
    pending_ = Pending::kNothing;
    IGLOO_TRY(HandleRequests(passed));
  }
  return passed;
}

Result<void> SshFilter::HandleRequests(Passed& passed) {
  while (pending_ == Pending::kNothing) {
    IGLOO_ASSIGN(const std::optional<std::string> message, TakeSshFrame(requests_));
    if (!message) break;
    IGLOO_TRY(HandleRequest(*message, passed));
  }
  return {};
}

Result<void> SshFilter::HandleRequest(const std::string& message, Passed& passed) {
  const auto type = static_cast<std::uint8_t>(message.front());
  if (type == kList) {
    if (message.size() != 1) return Malformed();
    Forward(message, Pending::kList, passed);
    return {};
  }
  if (type == kExtension) return HandleExtension(message, passed);
  if (type != kSign) {
    Refuse(kFailure, NameOf(type), passed);
    return {};
  }
  const auto blob = KeyOfSignRequest(message);
  if (!blob) return Malformed();
  const SshKey* key = Find(*blob);
  if (key == nullptr) {
    Refuse(kFailure, "sign with a key that was not granted", passed);
    return {};
  }
  used_ = FingerprintOf(*key) + " " + key->comment;
  Forward(message, Pending::kSignature, passed);
  return {};
}

Result<void> SshFilter::HandleExtension(const std::string& message, Passed& passed) {
  const auto name = ExtensionOf(message);
  if (!name) return Malformed();
  if (*name == kSessionBind) {
    Forward(message, Pending::kBinding, passed);
  } else if (*name == "query") {
    std::string answer = Single(kExtensionResponse);
    PutSshText(answer, "query");
    PutSshText(answer, kSessionBind);
    passed.to_client += SshFrame(answer);
  } else {
    Refuse(kExtensionFailure, "extension " + *name, passed);
  }
  return {};
}

Result<std::string> SshFilter::HandleReply(const std::string& message) {
  const auto type = static_cast<std::uint8_t>(message.front());
  // What is behind a refusal or an acceptance is for nobody.
  if (type == kFailure) return Single(kFailure);
  if (pending_ == Pending::kList) {
    IGLOO_ASSIGN(std::vector<SshKey> keys, ParseSshKeys(message));
    std::erase_if(keys, [&](const SshKey& key) { return Find(key.blob) == nullptr; });
    return EncodeSshKeys(keys);
  }
  if (pending_ == Pending::kBinding && (type == kSuccess || type == kExtensionFailure)) {
    return Single(type);
  }
  SshReader reader(std::string_view(message).substr(1));
  const bool signature = type == kSignature && reader.Text() && reader.AtEnd();
  if (pending_ != Pending::kSignature || !signature) {
    return Fail(Errc::kProtocol, "the ssh-agent's answer cannot be understood");
  }
  note_("signed", used_);
  return message;
}

void SshFilter::Forward(const std::string& message, Pending pending, Passed& passed) {
  passed.to_server += SshFrame(message);
  pending_ = pending;
}

void SshFilter::Refuse(std::uint8_t answer, std::string_view what, Passed& passed) {
  note_("refused", what);
  passed.to_client += SshFrame(Single(answer));
}

const SshKey* SshFilter::Find(std::string_view blob) const {
  const auto key = std::ranges::find(keys_, blob, &SshKey::blob);
  return key == keys_.end() ? nullptr : &*key;
}

}  // namespace igloo::agent
