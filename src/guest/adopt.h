#pragma once

#include <sys/types.h>

#include "guest/payload.h"
#include "guest/start.h"

namespace igloo::guest {

/// Takes in a process that was forked elsewhere and has come into this sandbox's namespaces: hands
/// it the payload's descriptors and the calls that put it behind the payload's wall, and looks from
/// outside whether it stands there. Nobody's code has run in it yet, so it can be trusted to make
/// those calls. Returns its pid, or -1 with `failure` filled in; never when igloo has gone.
pid_t AdoptPayload(const StartView& start, int landlock_abi, PayloadFailure& failure);

}  // namespace igloo::guest
