#include <cstdint>
#include <string_view>

#include "wire/host.h"

/// What a hostile igloo-init can send: frames are bounded, reports are plausible or refused, and
/// what was accepted encodes to the same bytes again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  igloo::wire::FrameBuffer frames(4096);
  frames.Append({reinterpret_cast<const char*>(bytes), size});
  for (auto payload = frames.Next(); payload && !payload->empty(); payload = frames.Next()) {
    const auto report = igloo::wire::DecodeReport(*payload);
    if (report && igloo::wire::EncodeReport(*report).substr(igloo::wire::kHeaderSize) != *payload) {
      __builtin_trap();
    }
  }
  return 0;
}
