#pragma once

#include <cstdint>

#include "base/error.h"
#include "image/unpack/stream.h"
#include "image/unpack/tree.h"

namespace igloo::image::unpack {

/// What was left out, for a note.
struct Dropped {
  std::uint64_t devices = 0;     ///< and pipes, sockets, unknown kinds
  std::uint64_t privileged = 0;  ///< files that came with set-id bits, without them now
  std::uint64_t names = 0;       ///< with control characters in them
};

/// Unpacks one layer on top of what the tree has.
Result<void> ApplyLayer(Stream& stream, Tree& tree, Budget& budget, Dropped& dropped);

}  // namespace igloo::image::unpack
