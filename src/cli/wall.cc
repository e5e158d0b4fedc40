#include "cli/wall.h"

#include "backend/bubblewrap/bubblewrap.h"

namespace igloo::cli {

Result<backend::Backend*> Wall::Choose(config::Backend kind, Console& console) {
  if (kind == config::Backend::kJail) return &jail_;
  console.Note(
      "note: bubblewrap cannot limit the number of files in memory nor forbid programs "
      "in /dev/shm, a socket that lies in a project can be reached, and code can watch which files "
      "of /usr others use, and lock them");
  IGLOO_ASSIGN(other_, backend::bubblewrap::Make(programs_.init));
  return other_.get();
}

}  // namespace igloo::cli
