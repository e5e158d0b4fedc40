#pragma once

#include <fcntl.h>

#include "base/error.h"

namespace igloo {

/// What SealFile adds, as F_GET_SEALS tells it.
inline constexpr int kAllSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

/// Makes a file in memory unchangeable for everybody who has it, for good: size, content, seals.
/// `doing` begins the error: "cannot seal a message".
Result<void> SealFile(int fd, const char* doing);

}  // namespace igloo
