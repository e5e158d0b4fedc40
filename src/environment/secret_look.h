#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "environment/secret_files.h"

namespace igloo::environment {

/// Opens a name of a directory for reading, without following a link, waiting for a pipe or, where
/// that is allowed (to owners and to root), leaving a trace in times of last access.
UniqueFd OpenQuietly(int directory, const char* name, int flags);

/// Why code does not get to read a file.
struct Secret {
  std::string why = {};
  std::optional<std::string> instead = {};  ///< what it reads then
};

/// Said of what igloo is not able to look at.
inline constexpr const char* kCannotLook = "igloo cannot look into it";

/// Whether a directory whose name a row has is shown all the same.
bool IsHarmless(int directory, const char* name, const SecretRow& row);

/// Whether a file whose name a row has is a secret; what cannot be read, or is larger than `most`
/// where its content would decide, is one.
std::optional<Secret> LookAt(int directory, const char* name, const SecretRow& row,
                             std::size_t most);

}  // namespace igloo::environment
