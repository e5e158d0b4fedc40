#pragma once

#include <stddef.h>

namespace igloo::machine {

/// Whether a program of one instruction runs in a virtual machine of this processor's own: seen by
/// trying. False with a text that says why.
bool TryKvm(char* why, size_t size);

}  // namespace igloo::machine
