#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "session/parts.h"

namespace igloo::session {

// What an interpreter's driver says. SECURITY: user code lives in the same process and can say
// whatever it likes instead: it is bounded, checked, and believed only about that code itself.
namespace said {
/// The interpreter is loaded.
struct Ready {
  int pid = 0;  ///< in its sandbox
  bool operator==(const Ready&) const = default;
};
/// One message of a part that needs several. DriverFrames keeps its data; whoever counts what an
/// interpreter says has to know that it came.
struct Piece {
  std::uint64_t id = 0;
  std::size_t bytes = 0;
  bool operator==(const Piece&) const = default;
};
struct Shown {
  std::uint64_t id = 0;
  Part part = {};
  std::size_t last_bytes = 0;  ///< of its data, in its last message: its pieces came before
  bool operator==(const Shown&) const = default;
};
/// A run came to its end, and the interpreter lives.
struct Done {
  std::uint64_t id = 0;
  int status = 0;
  std::optional<std::string> value = {};  ///< of a last expression
  bool interrupted = false;
  bool operator==(const Done&) const = default;
};
/// A child of the interpreter holds still to be copied.
struct StandsIn {
  int pid = 0;  ///< in its sandbox; 0: there can be no child
  bool operator==(const StandsIn&) const = default;
};
}  // namespace said
using Said = std::variant<said::Ready, said::Piece, said::Shown, said::Done, said::StandsIn>;

/// Takes a driver's words apart: "KIND ID SIZE\n" and SIZE bytes of JSON, or "exit ID STATUS\n"
/// for the end of a run about which there is no more to say. The data of a part that is too
/// long for one message comes before it in messages of the kind "piece".
class DriverFrames {
 public:
  static constexpr std::size_t kLongestHeader = 64, kLongestPayload = 1U << 20;
  static constexpr std::size_t kLongestPart = 12U << 20;  ///< of its data, as it is encoded
  static constexpr std::size_t kMostPieces = 128;         ///< drivers make them of 128 KB and more

  void Append(std::string_view bytes) { bytes_ += bytes; }
  /// The next message, or none yet. Fails for good on anything that a driver does not say.
  Result<std::optional<Said>> Next();
  void Clear() {
    bytes_.clear();
    pieces_.reset();
  }

 private:
  /// The first data of a part.
  struct Pieces {
    std::uint64_t id = 0;
    std::string data = {};
    std::size_t count = 0;
  };
  Result<void> Collect(std::uint64_t id, std::string_view data);
  Result<Said> TakePiece(std::uint64_t id, std::string data);
  Result<Said> TakePart(std::uint64_t id, std::string type, std::string_view encoding,
                        std::string data);

  std::string bytes_ = {};
  std::optional<Pieces> pieces_ = {};  ///< none: no part is under way
};

/// How code is run.
enum class Manner {
  kQuiet,
  kEcho,  ///< and the value of a last expression is told
};

/// An order: "WORD ID SIZE FLAGS" filled up to a line of `kOrderHeader` bytes, because a shell
/// reads a line of unknown length byte by byte, and the code. Shells cannot count NUL bytes, so a
/// flag ("nul") warns of them.
inline constexpr std::size_t kOrderHeader = 64;
std::string EncodeOrder(std::string_view word, std::uint64_t id, std::string_view code,
                        std::string_view flags);

// Orders of a fork: make a child, which igloo holds (flag: closed to all others); the copy was
// made, end it; you are a copy.
inline constexpr std::string_view kStandIn = "fork", kStandDown = "reap", kCopied = "copied";
inline constexpr std::string_view kClosed = "closed", kOpen = "-";
// Of a checkpoint: load the modules that the order names, a line each, and make a child that waits
// for kRestored; its first word where it is restored.
inline constexpr std::string_view kMakeCheckpoint = "checkpoint", kRestored = "+";

}  // namespace igloo::session
