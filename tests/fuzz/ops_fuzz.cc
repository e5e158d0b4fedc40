#include <cstdint>
#include <cstring>
#include <vector>

#include "ops/ops.h"

/// The launcher's reader: whatever it hands out lies inside the bytes it was given.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::vector<std::uint64_t> aligned(size / 8 + 1);
  std::memcpy(aligned.data(), bytes, size);
  igloo::ops::Reader reader(aligned.data(), size);
  std::size_t total = 0;
  while (const igloo::ops::Op* op = reader.Next()) {
    total += std::strlen(op->path()) + std::strlen(op->text()) + op->size;
  }
  return total > size * 3 ? __builtin_trap(), 0 : 0;
}
