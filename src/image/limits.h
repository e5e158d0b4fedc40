#pragma once

#include <cstddef>
#include <cstdint>

namespace igloo::image {

/// How much of an image is taken. Generous for what people build, and small enough that no image
/// fills a machine: a full desktop has some 300,000 files.
struct Limits {
  std::uint64_t entries = 500'000;      ///< of all layers together
  std::uint64_t bytes = 16ULL << 30;    ///< unpacked, of all layers together
  std::uint64_t ratio = 200;            ///< unpacked to packed; code has 2 to 5
  std::uint64_t free_bytes = 64 << 20;  ///< that the ratio does not count: small layers of zeros
  std::size_t layers = 128;
  std::size_t path = 4095;
  std::size_t depth = 100;
  std::size_t text = 4U << 20;  ///< of an index, a manifest or a configuration
};

}  // namespace igloo::image
