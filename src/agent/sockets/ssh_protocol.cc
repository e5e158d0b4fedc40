#include "agent/sockets/ssh_protocol.h"

#include "base/base64.h"
#include "base/sha256.h"

namespace igloo::agent {
namespace {

constexpr std::size_t kLength = 4;

std::uint32_t NumberAt(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kLength; ++i) {
    value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  }
  return value;
}

std::unexpected<Error> NoAgent(const char* what) {
  return Fail(Errc::kProtocol, std::string("the ssh-agent's answer ") + what);
}

}  // namespace

std::string FingerprintOf(const SshKey& key) {
  const Sha256Digest digest = Sha256(key.blob);
  std::string text = ToBase64({reinterpret_cast<const char*>(digest.data()), digest.size()});
  text.resize(text.find_last_not_of('=') + 1);
  return "SHA256:" + text;
}

std::string TypeOf(const SshKey& key) {
  return std::string(SshReader(key.blob).Text().value_or(std::string_view()));
}

std::optional<std::uint8_t> SshReader::Byte() {
  if (left_.empty()) return std::nullopt;
  const auto value = static_cast<std::uint8_t>(left_.front());
  left_.remove_prefix(1);
  return value;
}

std::optional<std::uint32_t> SshReader::Number() {
  if (left_.size() < kLength) return std::nullopt;
  const std::uint32_t value = NumberAt(left_);
  left_.remove_prefix(kLength);
  return value;
}

std::optional<std::string_view> SshReader::Text() {
  const std::string_view before = left_;
  const auto size = Number();
  if (!size || *size > left_.size()) {
    left_ = before;
    return std::nullopt;
  }
  const std::string_view text = left_.substr(0, *size);
  left_.remove_prefix(*size);
  return text;
}

void PutSshNumber(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
}

void PutSshText(std::string& out, std::string_view text) {
  PutSshNumber(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

std::string SshFrame(std::string_view message) {
  std::string frame;
  PutSshText(frame, message);
  return frame;
}

Result<std::optional<std::string>> TakeSshFrame(std::string& buffer) {
  if (buffer.size() < kLength) return std::nullopt;
  const std::uint32_t size = NumberAt(buffer);
  if (size == 0 || size > kMostSshMessage) {
    return Fail(Errc::kProtocol, "a message for ssh-agent has " + std::to_string(size) + " bytes");
  }
  if (buffer.size() - kLength < size) return std::nullopt;
  std::string message = buffer.substr(kLength, size);
  buffer.erase(0, kLength + size);
  return message;
}

Result<std::vector<SshKey>> ParseSshKeys(std::string_view message) {
  SshReader reader(message);
  if (reader.Byte() != ssh_message::kKeys) return NoAgent("is no list of keys");
  const auto count = reader.Number();
  if (!count) return NoAgent("ends in the middle of a number");
  std::vector<SshKey> keys;
  // Each key takes eight bytes at least, so a false number ends at the message's end.
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto blob = reader.Text();
    const auto comment = reader.Text();
    if (!blob || !comment) return NoAgent("has fewer keys than it says");
    keys.push_back({std::string(*blob), std::string(*comment)});
  }
  if (!reader.AtEnd()) return NoAgent("goes on behind its last key");
  return keys;
}

std::string EncodeSshKeys(const std::vector<SshKey>& keys) {
  std::string message(1, static_cast<char>(ssh_message::kKeys));
  PutSshNumber(message, static_cast<std::uint32_t>(keys.size()));
  for (const SshKey& key : keys) {
    PutSshText(message, key.blob);
    PutSshText(message, key.comment);
  }
  return message;
}

std::optional<std::string> KeyOfSignRequest(std::string_view message) {
  SshReader reader(message);
  if (reader.Byte() != ssh_message::kSign) return std::nullopt;
  const auto blob = reader.Text();
  const auto data = reader.Text();
  const auto flags = reader.Number();
  if (!blob || !data || !flags || !reader.AtEnd()) return std::nullopt;
  return std::string(*blob);
}

std::optional<std::string> ExtensionOf(std::string_view message) {
  SshReader reader(message);
  if (reader.Byte() != ssh_message::kExtension) return std::nullopt;
  const auto name = reader.Text();
  return name ? std::optional(std::string(*name)) : std::nullopt;
}

}  // namespace igloo::agent
