#pragma once

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo {

/// How many directories at the end of a path are igloo's own: `.../igloo` is one, `.../igloo/trust`
/// two. The directories above them belong to the user and are only made if they are missing.
enum class OwnLevels : unsigned { kOne = 1, kTwo = 2 };

/// Opens a directory that only this user may enter: state, caches, sockets, locks. Makes it if it
/// is missing. Its mode is 0700 afterwards, whatever the umask is and whatever the mode was.
/// SECURITY: fails, with the fix, if another user owns it or could have written to it. That user
/// could have put files, links or sockets there, or could hold a lock for ever.
Result<UniqueFd> OpenPrivateDirectory(const std::string& path, OwnLevels own = OwnLevels::kOne);

/// Makes every directory of `path` that is missing, with mode 0700 whatever the umask is. Those
/// that exist stay as they are.
Result<void> MakeMissingDirectories(const std::string& path);

/// Opens and locks the file `path`, which is made with mode 0600 if it is missing. Never waits:
/// fails with kFailedPrecondition if another process has the lock.
/// SECURITY: any user who can open a file can lock it, so the file must be this user's and closed
/// to all others. Links are not followed.
Result<UniqueFd> LockPrivateFile(const std::string& path);

/// The same, but waits until the other process is done: for locks that are held for moments.
Result<UniqueFd> WaitForPrivateLock(const std::string& path);

}  // namespace igloo
