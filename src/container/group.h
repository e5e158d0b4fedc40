#pragma once

#include <sys/types.h>

namespace igloo::container {

/// The cgroup that an engine works in. It makes two below its own, under names that do not change,
/// and leaves them: so each has one of its own, below that of igloo-container, in a hierarchy of
/// version 2, which every kernel has and which limits nothing here.
class Group {
 public:
  /// Makes it, or takes one that nobody has any more, and removes others of those: they belonged to
  /// containers that were killed. One that lives is locked. errno says why it cannot be had.
  bool Make();
  /// Of whoever calls: enters it, and shows its hierarchy at /sys/fs/cgroup.
  bool Enter() const;
  /// Removes it once all processes in it have ended.
  void Remove() const;

 private:
  /// The group of that name, locked; -1: somebody has it, or it is not there.
  int Lock(const char* name) const;
  /// False if it will not work with another name either.
  bool Take(const char* name);
  void Sweep(const char* name) const;

  int hierarchy_ = -1;  ///< a mount that is nowhere yet
  int parent_ = -1;     ///< igloo-container's own group
  int group_ = -1;      ///< locked, as long as somebody holds it
  char name_[32] = {};
};

}  // namespace igloo::container
