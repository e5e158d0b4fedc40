#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "service/changes/base_record.h"
#include "service/changes/change_set.h"
#include "service/changes/git.h"
#include "service/changes/tree.h"

namespace igloo::service::changes {

/// The three versions of a project's files: as they were (base), as the host has them now, and as
/// the sandbox left them (upper).
class Contents {
 public:
  /// Finishes first what an igloo that was killed had begun to apply.
  static Result<Contents> Open(const ChangeSet& set);

  const ChangeSet& set() const { return set_; }
  const BaseRecord& base() const { return base_; }
  const Tree& project() const { return project_; }
  const Tree& upper() const { return upper_; }
  bool has_git() const { return !set_.head.empty(); }

  /// Whether the host's file is the one that the base recorded.
  bool IsUntouched(const std::string& path) const;
  /// A file or link of the base: the host's own while that is untouched, otherwise from git's
  /// objects. Fails with kNotFound if neither has it.
  Result<std::string> Before(const std::string& path) const;
  /// A file or link of the upper layer.
  Result<std::string> After(const std::string& path) const { return ReadNode(upper_, path); }
  /// Of the host, now.
  Result<std::string> Now(const std::string& path) const { return ReadNode(project_, path); }

 private:
  Contents(ChangeSet set, Tree project, Tree upper)
      : set_(std::move(set)), project_(std::move(project)), upper_(std::move(upper)) {}
  static Result<std::string> ReadNode(const Tree& tree, const std::string& path);
  Result<std::string> FromGit(const std::string& path, const Node& node) const;

  ChangeSet set_;
  Tree project_, upper_;
  BaseRecord base_ = {};
  mutable std::optional<GitIndex> index_ = {};
  mutable std::optional<Git> git_ = {};
  mutable std::optional<ScratchRepository> scratch_ = {};
};

/// Git for the project's repository.
Result<Git> GitOf(const ChangeSet& set);

/// Whether two regular files have the same bytes.
Result<bool> SameBytes(int a, int b);

}  // namespace igloo::service::changes
