#pragma once

#include <sys/types.h>

#include <optional>
#include <utility>

#include "base/error.h"

namespace igloo::session {

/// Who this thread is to file systems, for as long as it lives.
/// SECURITY: files that root makes would not be the sandbox's to change, and with root's rights a
/// name that the code inside prepared could be opened against its mode. Only this thread changes.
class RunAs {
 public:
  /// Nothing when this thread is the owner already.
  static Result<std::optional<RunAs>> OwnerOf(int directory);

  RunAs(uid_t user, gid_t group);
  RunAs(RunAs&& other) noexcept
      : user_(other.user_), group_(other.group_), active_(std::exchange(other.active_, false)) {}
  RunAs& operator=(RunAs&&) = delete;
  ~RunAs();

 private:
  uid_t user_ = 0;
  gid_t group_ = 0;
  bool active_ = true;
};

}  // namespace igloo::session
