// What an interpreter's driver says: code of anybody lives in the same process.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "session/driver_frames.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  igloo::session::DriverFrames frames;
  // In two pieces: where a message is cut must not matter.
  const std::size_t first = size == 0 ? 0 : data[0] % (size + 1);
  for (const std::string_view piece : {bytes.substr(0, first), bytes.substr(first)}) {
    frames.Append(piece);
    for (;;) {
      const auto next = frames.Next();
      if (!next) return 0;
      if (!*next) break;
    }
  }
  return 0;
}
