#pragma once

#include <stdint.h>

#include "wire/message.h"

namespace igloo::guest {

// What igloo-init hears of the payload's system calls (wire::Watched) and tells igloo. The kernel
// holds a call until it is answered, so nothing here waits for the payload.
// SECURITY: a call that the filter refuses is answered with EPERM, as the filter does by itself.
// One that it allows goes on as it was made. Which is which stands in kPathCalls; the tests of the
// filter compare every call with the filter that nobody hears of.

/// Hears the calls behind a filter from now on; owns its listener. -1: there is none, as `error`
/// says.
void Observe(int listener, int error);
/// Can be read when a call waits for its answer; -1: nothing is observed.
int ObservedFd();
/// Answers one call.
void AnswerObserved(wire::Watched watched, const wire::Nonce& nonce);
/// When counts are to be told, in NowMicros; 0: there is nothing new.
uint64_t ObservedDue();
/// Tells all counts that igloo does not know.
void TellObserved(const wire::Nonce& nonce);

}  // namespace igloo::guest
