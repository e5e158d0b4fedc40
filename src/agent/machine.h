#pragma once

#include <cstdint>

namespace igloo::agent {

/// What a box may use of this machine unless somebody says otherwise: three quarters of its memory,
/// so that the machine can still be used when an agent's tests run wild.
std::uint64_t UsualMemory();
/// Three quarters of its processors, in thousandths of one; one at least.
std::uint64_t UsualMillicpus();
/// A few hundred processes a processor: builds start many.
std::uint64_t UsualProcesses();

}  // namespace igloo::agent
