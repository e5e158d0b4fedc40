#pragma once

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"
#include "cgroup/groups.h"

namespace igloo::cgroup {

/// Where this machine can stop all processes of a sandbox at once.
struct FreezerPlace {
  enum class Kind {
    kNone,
    kLeaf,  ///< version 2: the leaf itself
    kV2,    ///< a tree of version 2 beside the trees of version 1, as systemd mounts it
    kV1,    ///< the freezer of version 1
  };
  Kind kind = Kind::kNone;
  std::string place = {};  ///< kV2, kV1: the directory of its leaves
  std::string why = {};    ///< kNone: in words
};
/// `root` is /sys/fs/cgroup. Makes igloo's own directory where there is none yet.
FreezerPlace FindFreezer(const Found& found, const std::string& root = "/sys/fs/cgroup");

/// Brings every process of a leaf into a directory of another tree of cgroups, also those that are
/// started meanwhile.
Result<void> BringAll(const Leaf& leaf, int directory);

/// Stops all processes of one sandbox, igloo-init too, and lets them go on. They notice nothing of
/// it but the time, and can be killed meanwhile. They go on when this is destroyed.
class Freezer {
 public:
  /// `leaf` has the sandbox and outlives this.
  static Result<Freezer> Make(const FreezerPlace& place, const Leaf& leaf);
  Freezer(Freezer&& other) noexcept;
  Freezer& operator=(Freezer&&) = delete;
  ~Freezer();

  /// Waits until all of them stand; if that takes too long, they go on and it fails.
  Result<void> Freeze();
  Result<void> Thaw();
  bool frozen() const { return frozen_; }

 private:
  explicit Freezer(const Leaf& leaf) : leaf_(&leaf) {}
  Result<void> Write(bool freeze) const;
  bool AllStand() const;
  Result<void> StartGuard();

  const Leaf* leaf_;
  FreezerPlace::Kind kind_ = FreezerPlace::Kind::kNone;
  std::string place_ = {};   ///< for messages
  UniqueFd directory_ = {};  ///< kV2, kV1
  bool frozen_ = false;
  /// kV1: the lifeline of a process that lets them go on when this one ends. Nothing could kill
  /// them while they stand, and so they would stay.
  UniqueFd guard_ = {};
};

}  // namespace igloo::cgroup
