#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Makes what nearly every run needs while its job is still being planned. What cannot be made now
/// is tried again, and its failure told, when it is asked for.
void FillStock(Stock& stock);

/// A detached tmpfs or proc from the stock, or a new one; -1 with errno.
int TakeMemory(Stock& stock, const ops::Memory& wanted);
int TakeProc(Stock& stock);

}  // namespace igloo::jail
