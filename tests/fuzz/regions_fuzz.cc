// The list of a process's mappings: the kernel writes it, with names that anybody chose.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "copy/address_space.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto regions = igloo::copy::ParseRegions({reinterpret_cast<const char*>(data), size});
  if (!regions) return 0;
  for (const igloo::copy::Region& region : *regions) {
    if (region.begin >= region.end || region.begin % igloo::copy::kPageSize != 0) std::abort();
  }
  return 0;
}
