#include "base/random.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cstdlib>

namespace igloo {

std::string RandomName() {
  std::array<unsigned char, 16> bytes{};
  // The kernel's pool is ready long before any client; a guessable name must never be handed out.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    std::abort();
  }
  std::string name;
  for (const unsigned char byte : bytes) name += fmt::format("{:02x}", byte);
  return name;
}

}  // namespace igloo
