#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Applies one encoded list in order through the one table of operations, and counts them on. On
/// failure `failure` names the step; nothing is undone, because the process that did it ends.
bool ApplyList(Setup& setup, const List& list, Failure& failure);

/// How many operations a list has.
uint32_t CountOperations(const List& list);

/// Whether a list leaves its sandbox a capability, so that one made ahead is of no use for it.
bool GrantsRawSockets(const List& list);

/// Whether a list has an operation of this kind.
bool Contains(const List& list, ops::Code code);

}  // namespace igloo::jail
