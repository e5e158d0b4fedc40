#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy.h"
#include "session/files/leftovers.h"
#include "session/interpreter.h"
#include "session/run.h"
#include "wall/walls.h"

namespace igloo::service {

/// A run that came to its end, whatever that was.
struct Finished {
  session::RunResult run = {};
  session::Leftovers left = {};
  bool looked_for_files = false;  ///< its backend can hand them out
  std::string_view backend = wall::kDefault.name;
  std::uint64_t time_limit_ms = 0, memory_limit_bytes = 0;
  std::int64_t queued_micros = 0;
  // Of a session:
  std::string session = {};
  std::optional<std::string> value = {};  ///< of a last expression
  std::vector<session::Part> parts = {};  ///< pictures, tables
  std::vector<std::string> notes = {};    ///< about session and network, a sentence each
  /// What its background printed between the last call and this one.
  std::string late_output = {}, late_error = {};
};

/// Its notes, and what came late as one more note a stream: for results that have no better place.
std::vector<std::string> NotesOf(const Finished& finished);

/// What came of a call in an interpreter.
Finished FinishedFrom(session::CallResult result);
/// Tells in notes what its network refused, and which rule would allow it.
void NoteRefusals(Finished& finished);

/// Whether raw sockets are all that a network lacks.
bool CouldHaveRawSockets(const sandbox::Network& network);
/// The right that code may have wanted whose tools say that something is not permitted; empty: they
/// say nothing like that. A filter tells nobody what it refused.
std::string RawSocketsHint(std::string_view environment, const session::RunResult& run);
/// The same as a note.
void NoteRawSockets(std::string_view environment, Finished& finished);

}  // namespace igloo::service
