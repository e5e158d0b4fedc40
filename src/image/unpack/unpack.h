#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "image/limits.h"
#include "image/unpack/layer.h"
#include "image/unpack/layout.h"

namespace igloo::image::unpack {

/// An image in a layout, found and checked as far as its manifest.
struct Found {
  std::string digest = {};  ///< of its manifest
  Document manifest = {};
};

/// The image with this tag in the layout (a directory's descriptor), or the only one.
Result<Found> Find(int layout, std::string_view tag, const Limits& limits);

/// What came out.
struct Summary {
  std::string digest = {};
  Config config = {};
  Dropped dropped = {};
  std::uint64_t entries = 0, bytes = 0;
};

/// Unpacks all layers into an empty directory. Every blob is compared with its digest; after a
/// failure the directory is worth nothing.
Result<Summary> Unpack(int layout, const Found& image, int target, const Limits& limits);

/// Makes a layout in an empty directory out of a tar of one (`oci-archive`): its own files and no
/// others.
Result<void> ExtractLayout(int archive, int target, const Limits& limits);

}  // namespace igloo::image::unpack
