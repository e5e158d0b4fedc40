#pragma once

#include <optional>

#include "agent/sockets/filter.h"
#include "agent/sockets/ssh_protocol.h"

namespace igloo::agent {

/// Lets a client list the named keys and sign with them. Everything else that an agent can do (add
/// and remove keys, lock, other extensions) is refused. Requests are passed on one by one, each
/// when the one before it was answered.
class SshFilter final : public SocketFilter {
 public:
  SshFilter(std::vector<SshKey> keys, Note note);

  Result<Passed> FromClient(std::string_view bytes) override;
  Result<Passed> FromServer(std::string_view bytes) override;

 private:
  enum class Pending { kNothing, kList, kSignature, kBinding };

  /// Handles requests until one waits for the agent.
  Result<void> HandleRequests(Passed& passed);
  Result<void> HandleRequest(const std::string& message, Passed& passed);
  Result<void> HandleExtension(const std::string& message, Passed& passed);
  Result<std::string> HandleReply(const std::string& message);
  void Forward(const std::string& message, Pending pending, Passed& passed);
  void Refuse(std::uint8_t answer, std::string_view what, Passed& passed);
  const SshKey* Find(std::string_view blob) const;

  std::vector<SshKey> keys_;
  Note note_;
  std::string requests_ = {}, replies_ = {};
  Pending pending_ = Pending::kNothing;
  std::string used_ = {};  ///< the key of a pending signature, for people
};

}  // namespace igloo::agent
