#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Builds the environment of `job` in namespaces of its own and serves runs on it. The template's
/// user namespace maps the launcher's whole block, so that every run gets an id of its own.
/// Returns its pid, or -1 after the failure was sent; `socket` is the launcher's end.
pid_t StartTemplate(const Job& job, Setup& setup, uint32_t block, const int* sources,
                    unsigned source_count, int& socket);

}  // namespace igloo::jail
