#pragma once

#include <deque>
#include <optional>

#include "agent/sockets/filter.h"

namespace igloo::agent {

/// Lets a client of gpg-agent find out which keys there are, and sign with them. It cannot decrypt,
/// and can neither make, change, remove nor read a private key.
class GpgFilter final : public SocketFilter {
 public:
  explicit GpgFilter(Note note) : note_(std::move(note)) {}

  Result<Passed> FromClient(std::string_view bytes) override;
  /// The agent's own words pass as they are. What they say of a signature is noted: a client that
  /// only asked for one has none.
  Result<Passed> FromServer(std::string_view bytes) override;

 private:
  /// A command that the agent has not answered yet.
  struct Command {
    std::optional<std::string> signs_with = {};  ///< the key, where it asks for a signature
    bool got_data = false;
  };
  void NoteCommand(const std::string& line);
  void NoteAnswer(std::string_view line);

  Note note_;
  std::string line_ = {}, server_line_ = {};  ///< that have not come whole
  std::string key_ = {};                      ///< that signs, as the client chose it
  bool asked_ = false;                        ///< the agent waits for the client's reply
  std::deque<Command> unanswered_ = {{}};     ///< the agent's greeting counts as the first answer
};

}  // namespace igloo::agent
