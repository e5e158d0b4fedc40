#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/configured.h"
#include "support/running.h"

namespace igloo::testing {

/// Boxes with grants, and real programs for them to reach. Everything is in the test's own home.
class WithGrants : public Configured {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// A program of the host's, with the test's home; `env` counts too.
  Outcome Host(std::vector<std::string> words, std::vector<std::string> env = {}) const;
  /// The same, which has to succeed.
  std::string MustHost(std::vector<std::string> words, std::vector<std::string> env = {}) const;

  /// `igloo agent --cmd bash` around the test's project, without a network.
  Outcome Box(std::vector<std::string> options, const std::string& script,
              std::vector<std::string> env = {}) const;

  /// Makes ~/.ssh/NAME and NAME.pub beside it. In a box: ssh-keygen wants a user with a name, and
  /// whoever runs these tests may have none.
  void MakeSshKey(const std::string& name) const;
  /// Starts ssh-agent with a new key for each comment, which lie in ~/.ssh.
  void StartSshAgent(const std::vector<std::string>& comments);
  /// What makes a program find it.
  std::string SshVariable() const { return "SSH_AUTH_SOCK=" + Path("agent.sock"); }
  std::string Fingerprint(const std::string& comment) const;

  /// Makes a key that signs and decrypts, in a GNUPGHOME of the test's.
  void MakeGpgKey();
  std::string GpgVariable() const { return "GNUPGHOME=" + Path(".gnupg"); }

  /// Starts an X server that asks for a cookie; the number of its display.
  std::string StartX();
  std::string CookieVariable() const { return "XAUTHORITY=" + Path("cookies"); }

 private:
  std::optional<Running> ssh_agent_ = {};
  std::vector<std::unique_ptr<Running>> x_ = {};
  bool gpg_ = false;
};

}  // namespace igloo::testing
