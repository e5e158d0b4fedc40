#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/obeyed/look.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::agent {

/// What a box did to a file that programs of the host obey.
struct ObeyedFinding {
  enum class What {
    kPutRight,  ///< git would have run it: igloo took it away, or put back what was there
    kLeft,      ///< the same, but igloo could not: `detail` says why
    kMade,      ///< reported
    kChanged,   ///< reported
    kRemoved,   ///< reported
  };
  What what = What::kChanged;
  std::string path = {};
  std::string detail = {};  ///< what git would have done, or why the name counts
  std::string kept = {};    ///< where the box's version is; empty: nowhere
};

/// Looks at a project that a box may write to, before it begins and when it has ended.
///
/// Git runs programs that configurations and hooks name, of the repository and of every other one
/// that it comes by in the project, already in `git status`. Those that are there are mounted
/// read-only (agent/git_guards.h). Nothing can be mounted where nothing is, so what a box makes of
/// that kind is taken away when it ends; its version is kept for the user to look at. Files that
/// agents, editors and shells obey are the box's work as well, and are reported.
class ObeyedCheck {
 public:
  static Result<ObeyedCheck> Begin(const std::string& project, const WorkTree& tree,
                                   const std::string& home);

  /// `aside` is a directory for what is taken away, made if there is something.
  /// The project may have been moved meanwhile.
  Result<std::vector<ObeyedFinding>> Finish(const std::string& aside);

  const std::string& project() const { return project_; }
  bool has_repository() const { return !tree_.common.empty(); }

  /// For a file in which the look before waits for an igloo that is killed. Nothing: no such bytes.
  std::string Encode() const;
  static std::optional<ObeyedCheck> Decode(std::string_view bytes);

 private:
  void FollowProject();
  ObeyedCheck() = default;

  std::string project_ = {}, home_ = {};
  WorkTree tree_ = {};
  ObeyedFiles before_ = {};
  UniqueFd place_ = {};  ///< the project itself, wherever somebody moves it
};

}  // namespace igloo::agent
