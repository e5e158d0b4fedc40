#pragma once

// The messages of ssh-agent (draft-ietf-sshm-ssh-agent) that igloo lets pass, and no others.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace igloo::agent {

/// What OpenSSH's own agent takes.
inline constexpr std::size_t kMostSshMessage = 256U << 10;

namespace ssh_message {
inline constexpr std::uint8_t kFailure = 5, kSuccess = 6;
inline constexpr std::uint8_t kList = 11, kKeys = 12, kSign = 13, kSignature = 14;
inline constexpr std::uint8_t kExtension = 27, kExtensionFailure = 28, kExtensionResponse = 29;
}  // namespace ssh_message

/// A public key as an agent lists it.
struct SshKey {
  std::string blob = {};  ///< as on the wire
  std::string comment = {};
  bool operator==(const SshKey&) const = default;
};

/// "SHA256:...", as ssh-add shows it.
std::string FingerprintOf(const SshKey& key);
/// "ssh-ed25519"; empty: the blob does not begin with a name.
std::string TypeOf(const SshKey& key);

/// Takes a message apart from its beginning; every part has to be whole.
class SshReader {
 public:
  explicit SshReader(std::string_view bytes) : left_(bytes) {}
  std::optional<std::uint8_t> Byte();
  std::optional<std::uint32_t> Number();
  std::optional<std::string_view> Text();
  bool AtEnd() const { return left_.empty(); }

 private:
  std::string_view left_;
};

void PutSshNumber(std::string& out, std::uint32_t value);
void PutSshText(std::string& out, std::string_view text);
/// A message with its length in front.
std::string SshFrame(std::string_view message);

/// The first whole message of what has come, which is taken out of `buffer`; nothing: more has to
/// come. Fails on a length that no message has.
Result<std::optional<std::string>> TakeSshFrame(std::string& buffer);

/// The answer to a request for the list.
Result<std::vector<SshKey>> ParseSshKeys(std::string_view message);
std::string EncodeSshKeys(const std::vector<SshKey>& keys);

/// The key that a request wants a signature of. Nothing: it is no such request.
std::optional<std::string> KeyOfSignRequest(std::string_view message);

/// The name of an extension's request. Nothing: it is no such request.
std::optional<std::string> ExtensionOf(std::string_view message);

}  // namespace igloo::agent
