#pragma once

#include <unistd.h>

#include "jail/identity.h"
#include "jail/sandbox.h"

namespace igloo::jail {

/// Hands the directory `path` of the sandbox's own memory out to igloo. Files of a subordinate id
/// are not the starter's, who could neither change nor read them: such a directory takes the way
/// over the launcher, which shows it by an id-mapped mount in which they are.
/// SECURITY: whoever holds the descriptor looks below it without following links.
bool HandOutDirectory(Setup& setup, const char* path);

/// The launcher's side of that way. Only it has rights over the starter's ids and over those of
/// the sandboxes: in a user namespace that maps both. Such a map can only be written by a set-id
/// program of the system, and only from outside; igloo starts it.
class Mapper {
 public:
  /// Enters the new namespace, which nobody has mapped yet. False with errno: there is none.
  bool NeedIds(int proc_fd);
  /// Whether somebody has mapped it.
  bool HasIds() const { return starter_ == Ids{getuid(), getgid()}; }
  /// False with errno: the kernel has no id-mapped mounts of memory (before Linux 6.3).
  bool Begin();

  /// Readable when a directory waits; -1 before Begin().
  int socket() const { return sockets_[0]; }
  /// For Setup::hand_out of a template.
  int for_template() const { return sockets_[1]; }

  /// Takes one directory, maps it, and sends it on to igloo.
  void Take();

 private:
  /// Files of `inner` are the starter's there.
  int NamespaceFor(const Ids& inner);

  int proc_fd_ = -1;
  int sockets_[2] = {-1, -1};
  Ids starter_ = {}, inner_ = {};
  int namespace_ = -1;  ///< of inner_; nearly all sandboxes have the same
};

}  // namespace igloo::jail
