#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

// Trees of the host in inodes of the sandbox's own, made before the new root is entered. Each
// returns false with errno set.

/// kOverlay: a read-only overlay of the next source at `path`.
bool AttachView(Setup& setup, const ops::Op& op);
/// kBase: a read-only overlay of the next source, attached in the old root only.
bool MakeBase(Setup& setup, const ops::Op& op);
/// kFromBase: a part of the last base at `path`; ESTALE when it is not what the planner saw.
bool AttachFromBase(Setup& setup, const ops::Op& op);
/// kCopy: fills the file `path` of the new root.
bool CopyFile(Setup& setup, const ops::Op& op);

/// The detached tree of a kBind: the next source, or what the template has at `path`. -1: errno.
int TreeOfBind(Setup& setup, const ops::Op& op);

/// Where the new root is attached until it is entered.
const char* StageOf(const Setup& setup);
/// Closes what would keep the old root alive.
void ForgetOldRoot(Setup& setup);

}  // namespace igloo::jail
