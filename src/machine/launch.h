#pragma once

// What igloo, the relay beside the emulator and the first process of a virtual machine say to each
// other while the machine starts. Freestanding. igloo and the relay take what comes out of a
// machine as hostile.

#include <stddef.h>
#include <stdint.h>

#include "ops/ops.h"

namespace igloo::machine {

/// Ports of the machine's serial device, by their place; those of extra descriptors follow.
enum Port : unsigned {
  kLaunchPort,
  kControlPort,
  kInputPort,
  kOutputPort,
  kErrorPort,
  kFirstExtraPort
};

inline constexpr unsigned kMaxExtra = 6;
inline constexpr unsigned kMaxPorts = kFirstExtraPort + kMaxExtra;
/// The kernel's name of the first port: number 0 is a console's.
inline constexpr const char* kPortDevice = "/dev/vport0p";

/// Descriptors that the emulator is started with: its console, and from kFirstPortFd on its ports.
inline constexpr int kConsoleFd = 31;
inline constexpr int kFirstPortFd = 32;

/// Descriptors that the relay is started with, behind the program's own three: igloo's for the
/// launch, igloo-init's control channel, and the program's extra ones.
inline constexpr int kRelayLaunchFd = 3;
inline constexpr int kRelayControlFd = 4;
inline constexpr int kRelayExtraFd = 5;

inline constexpr uint32_t kMagic = 0x4d564749;  // "IGVM"
inline constexpr uint32_t kMaxMounts = 64u << 10;
inline constexpr uint32_t kMaxRequest = ops::kMaxBytes + sizeof(ops::Request);

/// Which way bytes of an extra descriptor go.
enum class Way : uint8_t { kNone = 0, kInto = 1, kOut = 2, kBoth = 3 };

/// What igloo sends first. Behind it: `mounts_bytes` of mounts, each of four texts that a NUL
/// closes (type, source, place, options); then a request of the launcher (ops::Request and its
/// lists).
struct Launch {
  uint32_t magic;
  uint32_t extra;  ///< how many
  Way ways[8];
  int64_t seconds;  ///< since 1970, on the host
  int64_t nanoseconds;
  unsigned char seed[64];  ///< random bytes of the host's
  uint32_t mounts_bytes;
  uint32_t request_bytes;
};
static_assert(sizeof(Launch) == 104);

enum class EventKind : uint32_t {
  // Of the machine.
  kUp = 1,    ///< its first process runs, and waits to be told what to do
  kReply,     ///< an answer of its launcher
  kLaunched,  ///< there are no more answers
  kFailed,    ///< its first process could not do `stage`
  // Of the relay.
  kAccelerated,  ///< the processor's own virtual machines are used
  kEmulated,     ///< they are not: the text says why
  kLost,         ///< the machine ended by itself: the text is the end of what it said
  kNotStarted,   ///< the emulator could not be started
};

/// What the machine's first process was doing.
enum class Stage : uint32_t {
  kNone,
  kDevices,
  kModule,
  kPorts,
  kOrders,
  kClock,
  kMount,
  kStreams,
  kSources,
  kLauncher,
  kLast,
};

/// What comes back, always this many bytes.
struct Event {
  EventKind kind = {};
  Stage stage = {};
  int32_t sys_errno = 0;
  uint32_t text_size = 0;
  ops::Reply reply = {};  ///< of kReply
  char text[440] = {};
};
static_assert(sizeof(Event) == 504);

}  // namespace igloo::machine
