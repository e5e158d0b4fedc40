#pragma once

#include <sys/types.h>

#include <deque>
#include <string>

#include "base/unique_fd.h"

namespace igloo::mcp {

/// Writes to a descriptor without ever waiting and without touching its flags, since others may
/// share them.
class Outlet {
 public:
  /// `fd` is borrowed.
  explicit Outlet(int fd);

  /// Writes from `queue`, whose first text is written up to `begun`: the count of bytes, 0 when
  /// nothing fits now, -1 when nobody reads.
  ssize_t WriteSome(const std::deque<std::string>& queue, std::size_t begun) const;

  /// Lets go of what it opened itself; nothing is written any more.
  void Close() { own_.Reset(); }

 private:
  enum class Kind { kSocket, kPipe, kOther };
  int fd_;
  Kind kind_ = Kind::kOther;
  UniqueFd own_ = {};  ///< the same pipe, opened anew: with flags of its own
};

}  // namespace igloo::mcp
