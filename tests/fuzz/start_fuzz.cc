#include <cstdint>
#include <cstring>
#include <memory>

#include "guest/start.h"

/// igloo-init's decoder of its orders: never reads outside the frame.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static auto view = std::make_unique<igloo::guest::StartView>();
  if (!igloo::guest::DecodeStart(bytes, size, *view)) return 0;
  std::size_t total = std::strlen(view->cwd);
  for (const char* const* word = view->argv; *word != nullptr; ++word) total += std::strlen(*word);
  for (const char* const* word = view->env; *word != nullptr; ++word) total += std::strlen(*word);
  for (std::uint32_t i = 0; i < view->path_count; ++i) total += std::strlen(view->paths[i].path);
  for (std::uint32_t i = 0; i < view->limit_count; ++i) total += view->limits[i].resource == 0;
  return total > size ? __builtin_trap(), 0 : 0;
}
