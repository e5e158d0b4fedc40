#pragma once

#include <functional>
#include <span>

#include "base/error.h"

namespace igloo::service::changes {

/// Runs `work` on a thread that can write only beneath these open directories, and the same for
/// every process that it starts. SECURITY: git follows links in a repository. Whoever can write
/// there (a sandbox that runs now, for example) could put one while git works.
/// On a kernel without Landlock nothing is restricted.
Result<void> WithWritesBeneath(std::span<const int> directories,
                               const std::function<Result<void>()>& work);

}  // namespace igloo::service::changes
