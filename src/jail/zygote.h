#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Starts an interpreter beside a template: in its user and PID namespaces and on its root, so that
/// children of it can come into the sandboxes that stand on the template, where igloo-init adopts
/// them. It runs nobody's code, has one right (to enter namespaces, under a filter that denies
/// everything else that this right is good for) and ends with the template. `fds` become 3, 4, ...
/// as igloo-init's do: its orders first. Called by the template; returns at once.
void StartZygote(const Setup& setup, const int* fds, unsigned count);

}  // namespace igloo::jail
