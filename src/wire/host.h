#pragma once

// The host's side of the wire: values in, bytes out, and back. Init's side is in guest/.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "wire/message.h"

namespace igloo::wire {

struct ResourceLimit {
  std::uint32_t resource = 0;  ///< RLIMIT_*
  std::uint64_t value = 0;
  bool operator==(const ResourceLimit&) const = default;
};

struct PathRule {
  PathRight right = PathRight::kRead;
  std::string path = {};
  bool operator==(const PathRule&) const = default;
};

struct Start {
  Nonce nonce = {};
  std::uint64_t time_limit_ms = 0;       ///< 0: none
  std::uint64_t grace_ms = 0;            ///< between interrupt and kill
  std::uint64_t memory_limit_bytes = 0;  ///< of all processes together; 0: none
  MemoryWatch memory = MemoryWatch::kInit;
  SeccompProfile seccomp = SeccompProfile::kDefault;
  std::vector<ResourceLimit> limits = {};
  std::vector<PathRule> paths = {};
  std::string cwd = {};
  std::uint32_t extra_descriptors = 0;
  Terminal terminal = Terminal::kNone;
  Life life = Life::kOnce;
  Birth birth = Birth::kStarted;
  SocketWatch sockets = SocketWatch::kOwn;
  Watched watched = Watched::kNothing;
  std::vector<std::string> argv = {};
  std::vector<std::string> env = {};
  bool operator==(const Start&) const = default;
};

struct Ended {
  Nonce nonce = {};
  EndKind kind = EndKind::kExited;
  EndCause cause = EndCause::kItself;
  std::uint8_t hits = 0;     ///< Hit flags; looked for only when the payload did not succeed
  std::uint32_t status = 0;  ///< exit code or signal number
  std::uint64_t cpu_micros = 0;
  std::uint64_t peak_kib = 0;  ///< of the largest process
  std::uint64_t wall_micros = 0;
  std::uint64_t landlock_abi = 0;  ///< 0: the kernel has none
  std::uint64_t stamps[3] = {};    ///< CLOCK_MONOTONIC µs: init main, payload start, payload end
  bool operator==(const Ended&) const = default;
};

struct Refused {
  Nonce nonce = {};
  InitStep step = InitStep::kNone;
  std::uint32_t sys_errno = 0;
  bool operator==(const Refused&) const = default;
};

/// A program beside the payload.
struct JoinEnded {
  Nonce nonce = {};
  std::uint32_t number = 0;
  EndKind kind = EndKind::kExited;
  std::uint32_t status = 0;
  InitStep step = InitStep::kNone;  ///< where starting it failed
  std::uint32_t sys_errno = 0;
  bool operator==(const JoinEnded&) const = default;
};

/// The payload was stopped at its terminal.
struct Stopped {
  Nonce nonce = {};
  bool operator==(const Stopped&) const = default;
};

/// What the payload was refused, or asked for.
struct Seen {
  Nonce nonce = {};
  SeenKind kind = SeenKind::kCall;
  std::uint32_t number = 0;  ///< of the call, or the error
  std::uint64_t times = 0;
  std::string program = {};  ///< the path of its file; empty: unknown
  std::string path = {};
  bool operator==(const Seen&) const = default;
};

/// One that nobody can guess.
Nonce NewNonce();

/// A whole frame, header included. Fails when a text holds a NUL or the frame is too long.
Result<std::string> EncodeStart(const Start& start);
std::string EncodeGo(std::uint64_t time_limit_ms, std::string_view name);
/// Fails when the words are too many or too long, or one holds a NUL.
Result<std::string> EncodeJoin(std::uint32_t number, const std::vector<std::string>& argv);
/// A frame for every other kind.
std::string EncodeSimple(ToInit kind);

using Report = std::variant<Ended, Refused, JoinEnded, Stopped, Seen>;
/// Whether nothing may follow it from an igloo-init that ends with its payload.
inline bool IsLast(const Report& report) {
  return std::holds_alternative<Ended>(report) || std::holds_alternative<Refused>(report);
}
/// Decodes one payload from init. Anything unexpected is kProtocol.
Result<Report> DecodeReport(std::string_view payload);

/// Frames and payloads of init's messages: used by tests and by fakes of init.
std::string EncodeReport(const Report& report);

/// Collects bytes from a stream and hands out whole payloads.
class FrameBuffer {
 public:
  explicit FrameBuffer(std::uint32_t limit = kMaxFrame) : limit_(limit) {}
  void Append(std::string_view bytes) { bytes_ += bytes; }
  /// The next payload; an empty string when more bytes are needed (no message is empty).
  /// Fails once a length is zero or above the limit, before anything is allocated for it.
  Result<std::string> Next();

 private:
  std::uint32_t limit_;
  std::string bytes_ = {};
};

}  // namespace igloo::wire
