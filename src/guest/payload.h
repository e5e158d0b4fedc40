#pragma once

#include <sys/types.h>

#include "guest/start.h"

namespace igloo::guest {

/// Descriptors igloo-init is started with.
inline constexpr int kControlFd = 3;
inline constexpr int kFirstPayloadFd = 4;  ///< stdin, stdout, stderr, then the extra ones

/// Why the payload did not start.
struct PayloadFailure {
  wire::InitStep step = wire::InitStep::kNone;
  int sys_errno = 0;
};

/// Landlock's version in this kernel, or 0.
int LandlockAbi();

/// Starts the payload behind its own wall and in its own session, or restores it from a checkpoint,
/// which then lies behind its descriptors. Returns its pid, or -1 with
/// `failure` filled in. The payload shares no descriptor with init but what it was given.
pid_t StartPayload(const StartView& start, int landlock_abi, PayloadFailure& failure);

/// Starts `argv` beside the payload: the same wall, variables and limits, in a session of its own
/// on `terminal`.
pid_t JoinPayload(StartView& start, const char* const* argv, int terminal, int landlock_abi,
                  PayloadFailure& failure);

}  // namespace igloo::guest
