#include "session/files/run_as.h"

#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

namespace igloo::session {

Result<std::optional<RunAs>> RunAs::OwnerOf(int directory) {
  struct stat info{};
  if (::fstat(directory, &info) != 0) return FailSys(errno, "cannot look at the workspace");
  if (info.st_uid == ::geteuid()) return std::nullopt;
  std::optional<RunAs> acting;
  acting.emplace(info.st_uid, info.st_gid);
  // The calls themselves do not say whether they worked.
  const bool user = static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) == info.st_uid;
  const bool group = static_cast<gid_t>(::setfsgid(static_cast<gid_t>(-1))) == info.st_gid;
  if (!user || !group) {
    return Fail(Errc::kPermissionDenied, "the workspace belongs to somebody else");
  }
  return acting;
}

RunAs::RunAs(uid_t user, gid_t group) {
  group_ = static_cast<gid_t>(::setfsgid(group));
  user_ = static_cast<uid_t>(::setfsuid(user));
}

RunAs::~RunAs() {
  if (!active_) return;
  ::setfsuid(user_);
  ::setfsgid(group_);
}

}  // namespace igloo::session
