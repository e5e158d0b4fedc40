#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "backend/microvm/division.h"
#include "base/error.h"
#include "machine/launch.h"

namespace igloo::backend::microvm {

/// What the host gives a machine that has neither by itself.
struct Birth {
  std::int64_t seconds = 0, nanoseconds = 0;  ///< since 1970
  std::array<unsigned char, 64> seed = {};    ///< random, and of this machine alone
};

/// Everything that a machine is told at its start. Fails for a plan that is too large.
Result<std::string> EncodeOrders(const Division& division, std::span<const machine::Way> extra,
                                 const Birth& birth);

/// Collects what comes back, and hands out whole events.
class Events {
 public:
  void Append(std::string_view bytes) { bytes_ += bytes; }
  /// False: more bytes are needed.
  bool Next(machine::Event& event);

 private:
  std::string bytes_ = {};
};

/// The text of an event, as people may see it: whoever wrote it is hostile.
std::string TextOf(const machine::Event& event);

/// What became of a machine that said so.
Error ExplainEvent(const machine::Event& event);

}  // namespace igloo::backend::microvm
