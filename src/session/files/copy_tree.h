#pragma once

#include <cstddef>

#include "base/error.h"

namespace igloo::session {

struct CopiedTree {
  std::size_t files = 0;
  std::size_t left_out = 0;  ///< sockets, FIFOs, and what vanished meanwhile
};

/// Copies everything below one directory that a sandbox handed out into another, which belongs to
/// another sandbox. Blocks for as long as the bytes take; may be called on any thread.
/// SECURITY: hostile code may live in the first and change everything at any moment: no link is
/// followed, nothing but regular files is opened, and depth and number are bounded.
Result<CopiedTree> CopyTree(int from, int to);

}  // namespace igloo::session
