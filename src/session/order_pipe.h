#pragma once

#include "base/error.h"
#include "base/file.h"

namespace igloo::session {

/// A pipe that is full with anything in it, and empty again when its last byte was read: so whoever
/// writes can wait for that, which costs the reader nothing. Where that cannot be had it is a usual
/// one.
Result<FdPair> MakeOrderPipe();

/// Whether a pipe is one of that kind. For either end.
bool TellsWhenRead(int pipe);

/// Whether everything was read that was written to it.
bool IsRead(int pipe);

/// As much at once as any pipe takes; the end of its being one of that kind.
void Widen(int pipe);

}  // namespace igloo::session
