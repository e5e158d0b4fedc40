#pragma once

#include "agent/sockets/filter.h"

namespace igloo::agent {

/// Lets a client of gpg-agent find out which keys there are, and sign with them. It cannot decrypt,
/// and can neither make, change, remove nor read a private key.
class GpgFilter final : public SocketFilter {
 public:
  explicit GpgFilter(Note note) : note_(std::move(note)) {}

  Result<Passed> FromClient(std::string_view bytes) override;
  /// The agent's own words pass as they are.
  Result<Passed> FromServer(std::string_view bytes) override;

 private:
  Note note_;
  std::string line_ = {};  ///< that has not come whole
};

}  // namespace igloo::agent
