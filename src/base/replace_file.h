#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace igloo {

/// What a file is like besides its content.
struct FileAttributes {
  struct Owner {
    uid_t user = 0;
    gid_t group = 0;
  };
  mode_t mode = 0600;
  std::optional<Owner> owner = {};  ///< whoever writes it otherwise
};

/// Whether a file has to be whole after the machine lost its power, for which whoever writes it
/// waits for the disk. What nobody reads again then need not.
enum class Sync { kYes, kNo };

/// Puts `bytes` at `path` all at once, readable by the owner alone (0600) unless told otherwise:
/// whoever reads it sees the old content or the new, also after a crash. The directory must exist.
Result<void> ReplaceFile(const std::string& path, std::string_view bytes,
                         const FileAttributes& attributes = {}, Sync sync = Sync::kYes);

/// Gives an open file these attributes.
Result<void> SetAttributes(int fd, const FileAttributes& attributes);

}  // namespace igloo
