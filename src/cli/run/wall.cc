#include "cli/run/wall.h"

#include <string>

namespace igloo::cli {

Result<void> Wall::Make(const wall::Wall& wall, Log::Line note) {
  if (made_ == &wall) return {};
  IGLOO_ASSIGN(backend_, backend::Make(wall, {.programs = programs_,
                                              .timeline = timing_ && wall.can.timeline,
                                              .note = std::move(note)}));
  made_ = &wall;
  return {};
}

Result<void> Wall::Warm(const wall::Wall& likely) {
  if (!likely.can.starts_ahead) return {};
  IGLOO_TRY(Make(likely));
  return backend_->Warm();
}

Result<backend::Backend*> Wall::Choose(const wall::Wall& wall, const std::string& kernel,
                                       Console& console) {
  if (!wall.caveat.empty()) console.Note("note: " + std::string(wall.caveat));
  programs_.kernel = kernel;
  IGLOO_TRY(Make(
      wall, [&console](std::string_view text) { console.Note("note: " + std::string(text)); }));
  return backend_.get();
}

}  // namespace igloo::cli
