#include "session/parts.h"

#include <fcntl.h>

#include "environment/conveniences.h"
#include "session/files/workspace.h"

namespace igloo::session {

namespace {
constexpr std::size_t kMostParts = 100;
constexpr std::string_view kUnfinished = ".part";
}  // namespace

UniqueFd OpenDisplayed(int parent) {
  return OpenBelow(parent, environment::kDisplayDirectory, O_RDONLY | O_DIRECTORY);
}

LeftLimits DisplayLimits(std::size_t bytes) {
  return {.files = kMostParts,
          .entries = 2 * kMostParts,
          .depth = 1,
          .file_bytes = bytes,
          .total_bytes = bytes};
}

std::vector<Part> PartsFrom(Leftovers displayed) {
  std::vector<Part> parts;
  for (LeftFile& file : displayed.files) {
    const std::size_t line = file.bytes.find('\n');
    const bool whole = file.state == LeftFile::State::kRead && line != std::string::npos;
    if (!whole || file.path.ends_with(kUnfinished)) continue;
    Part& part = parts.emplace_back(Part{.type = file.bytes.substr(0, line)});
    part.bytes = std::move(file.bytes);
    part.bytes.erase(0, line + 1);
  }
  return parts;
}

}  // namespace igloo::session
