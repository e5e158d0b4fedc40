#pragma once

// What igloo and igloo-init say to each other. The first byte of a payload is the kind.

#include <stdint.h>

#include "wire/frame.h"

namespace igloo::wire {

enum class ToInit : uint8_t {
  kStart = 1,  ///< start the payload; sent once, first
  kInterrupt,  ///< SIGINT to the payload's process group
  kKill,       ///< end everything now
  kNudge,      ///< SIGINT to the payload's process group, which is expected to survive it
  kAgain,      ///< the payload ended, and Life is kStays: start it once more
  /// Put the file that the payload waits for, kNewFile, in its place: its time begins. u64 ms
  /// (0: no limit), text name. Its directory is the descriptor behind the payload's own.
  kGo,
  /// Start another program beside the payload, behind the same wall, on a terminal of its own,
  /// whose descriptor comes with the frame: u32 number, by which it is reported, u32 n + n x text
  /// argv. It ends with the payload.
  kJoin,
  kContinue,  ///< SIGCONT to the payload's process group
};

/// The code of a payload that waits, before it is in its place.
inline constexpr const char* kNewFile = ".new";

enum class FromInit : uint8_t {
  kEnded = 1,  ///< the payload ended; last, unless Life is kStays
  kRefused,    ///< init could not build the payload's wall or start it; last
  kJoinEnded,  ///< a program of kJoin ended, or could not be started
  kStopped,    ///< the payload was stopped at its terminal (Ctrl-Z) and waits for kContinue
  kSeen,       ///< something that Watched asks for
};

/// Answers belong to their request: init repeats the nonce it was started with.
struct Nonce {
  uint64_t high = 0, low = 0;
  bool operator==(const Nonce&) const = default;
};

/// How a path may be used by the payload under Landlock.
enum class PathRight : uint8_t { kRead = 1, kReadWrite = 2, kDevice = 3 };

// How much of each init has room for; more is refused.
inline constexpr uint32_t kMaxResourceLimits = 32;
inline constexpr uint32_t kMaxPathRules = 1024;
inline constexpr uint32_t kMaxStrings = 65536;  ///< arguments, and again variables
inline constexpr uint32_t kMaxExtraDescriptors = 8;
inline constexpr uint32_t kMaxOrder = 4096;  ///< bytes of every frame but kStart's
inline constexpr uint32_t kMaxJoined = 8;    ///< programs beside the payload, at a time
inline constexpr uint32_t kMaxJoinWords = 64;

/// Seccomp profiles of igloo-init; security grows with none of them being `off`.
enum class SeccompProfile : uint8_t {
  kDefault = 1,
  kDebug = 2,  ///< the default, with ptrace and process_vm_* back
  /// The default, with raw and packet sockets; such a payload keeps CAP_NET_RAW, and it alone.
  kRawSockets = 4,
};

/// Who sees to it that all processes together keep the memory limit.
enum class MemoryWatch : uint8_t { kInit = 0, kCgroup = 1 };

/// Whether igloo-init counts what lies in buffers of sockets: those of the sandbox's own network
/// namespace, never the host's.
enum class SocketWatch : uint8_t { kNone = 0, kOwn = 1 };

/// What igloo-init tells of the payload while it runs.
enum class Watched : uint8_t {
  kNothing = 0,
  kCalls = 1,  ///< system calls that the filter refused, of a short list
  kFiles = 2,  ///< these, and which files are asked for: slower
};

/// What a kSeen is about.
enum class SeenKind : uint8_t {
  kCall = 1,  ///< a refused call: its number, and how often that program was refused it so far
  // A file that a program asked for, once for each path: 0, or the error number that it got.
  kRead,
  kWritten,
  kBlind,  ///< refused calls cannot be seen: the error number says why
};
inline constexpr uint32_t kMaxSeenProgram = 255, kMaxSeenPath = 1023;
inline constexpr uint32_t kOtherCalls = 4095;  ///< kCall of all that there was no room for
inline constexpr uint32_t kMaxReport = 2048;   ///< bytes of every frame of igloo-init's

/// Whether the payload's standard input is a terminal that becomes its controlling one.
enum class Terminal : uint8_t { kNone = 0, kOwn = 1 };

/// Whether the sandbox ends with its payload, or waits for orders: its files outlive a payload.
enum class Life : uint8_t { kOnce = 0, kStays = 1 };

/// Whether the payload starts from its beginning, or goes on from a checkpoint
/// (checkpoint/format.h), whose file comes behind all other descriptors. One that is started again
/// always starts from its beginning.
enum class Birth : uint8_t { kStarted = 0, kRestored = 1 };

/// How the payload ended.
enum class EndKind : uint8_t { kExited = 1, kSignalled = 2 };

/// Why init ended it, when it did.
enum class EndCause : uint8_t {
  kItself = 0,
  kTimeLimit = 1,
  kInterrupted = 2,
  kKilled = 3,
  kMemory = 4,
};

/// Where init gave up on starting the payload.
enum class InitStep : uint8_t {
  kNone = 0,
  kStartMessage,
  kSelfCheck,  ///< capabilities or no_new_privs are not as promised
  kKeyring,
  kSession,
  kDescriptors,
  kTerminal,
  kResourceLimit,
  kWorkingDirectory,
  kLandlock,
  kSeccomp,
  kExec,
  kRestore,  ///< the checkpoint does not fit, or this machine forbids what it takes
};

/// Limits that the payload ran into, as far as init can see them from inside.
enum Hit : uint8_t {
  kHitProcesses = 1,
  kHitDisk = 2,
};

// Layout of kStart, in order (texts as in Fields::Text):
//   u8 kind, u64 nonce.high, u64 nonce.low, u64 time_limit_ms, u64 grace_ms,
//   u64 memory_limit_bytes, u8 MemoryWatch, u8 seccomp profile,
//   u32 n + n x (u32 resource, u64 value)        resource limits
//   u32 n + n x (u8 PathRight, text path)        Landlock rules
//   text cwd, u32 extra descriptors, u8 Terminal, u8 Life, u8 Birth, u8 SocketWatch, u8 Watched,
//   u32 n + n x text argv, u32 n + n x text env

}  // namespace igloo::wire
