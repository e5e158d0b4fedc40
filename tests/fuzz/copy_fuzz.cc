// What igloo and igloo-copy tell each other, and the header of a checkpoint that igloo-init reads.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "checkpoint/format.h"
#include "copy/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view packet(reinterpret_cast<const char*>(data), size);
  if (const auto order = igloo::copy::DecodeOrder(packet)) {
    if (igloo::copy::Encode(*order).size() != packet.size() || order->original <= 0) std::abort();
  }
  if (const auto news = igloo::copy::DecodeNews(packet)) {
    if (!igloo::copy::DecodeNews(igloo::copy::Encode(*news))) std::abort();
  }
  igloo::checkpoint::Header header;
  if (size < sizeof header) return 0;
  std::memcpy(&header, data, sizeof header);
  if (!igloo::checkpoint::IsSound(header)) return 0;
  // What igloo-init relies on.
  if (header.extended_at + header.extended_size > header.window ||
      ::strnlen(header.program, sizeof header.program) == sizeof header.program ||
      header.kernel_parts > igloo::checkpoint::kMaxKernelParts) {
    std::abort();
  }
  return 0;
}
