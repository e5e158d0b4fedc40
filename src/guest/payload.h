#pragma once

#include <sys/resource.h>
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

/// The second layer as a Landlock ruleset, or -1: the kernel has none (`abi` is 0), or errno says.
int MakeRuleset(const StartView& start, int abi);
/// What can be had of a resource limit: one of the machine's own that is lower stays.
rlimit AttainableLimit(const StartView::Limit& limit);
struct Filter;
const Filter& FilterFor(const StartView& start);

/// Turns this process into the payload. Returns only when that fails: where, errno says why.
wire::InitStep BecomePayload(const StartView& start, int landlock_abi);

/// Starts the payload behind its own wall and in its own session. Returns its pid, or -1 with
/// `failure` filled in. The payload shares no descriptor with init but what it was given.
pid_t StartPayload(const StartView& start, int landlock_abi, PayloadFailure& failure);

}  // namespace igloo::guest
