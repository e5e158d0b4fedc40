#pragma once

#include <sys/types.h>

#include <utility>
#include <vector>

#include "base/error.h"

namespace igloo::service::changes {

/// Whose rights count when igloo works in a directory: the process's own, or, if root works in
/// somebody else's directory, those of its owner.
/// SECURITY: the owner can put links there and move directories while root works, and so lead root
/// to any file. With the owner's rights alone, nothing happens that the owner could not do.
class ActingUser {
 public:
  /// The process's own rights.
  ActingUser() = default;
  /// For an open directory.
  static Result<ActingUser> ForDirectory(int directory);

  /// Whether this is somebody else than the process's own user.
  bool other() const { return other_; }
  uid_t user() const { return user_; }
  /// The user's group according to /etc/passwd. No other group counts.
  gid_t group() const { return group_; }

  /// While it lives, this thread alone has the user's rights to files. Files that it makes are the
  /// user's. Nothing changes if that is the process's own user.
  class Rights {
   public:
    Rights(Rights&& other) noexcept
        : active_(std::exchange(other.active_, false)),
          user_(other.user_),
          group_(other.group_),
          groups_(std::move(other.groups_)) {}
    Rights& operator=(Rights&&) = delete;
    ~Rights();

   private:
    friend class ActingUser;
    Rights() = default;
    bool active_ = false;
    uid_t user_ = 0;
    gid_t group_ = 0;
    std::vector<gid_t> groups_ = {};
  };
  Result<Rights> TakeRights() const;

 private:
  bool other_ = false;
  uid_t user_ = 0;
  gid_t group_ = 0;
};

}  // namespace igloo::service::changes
