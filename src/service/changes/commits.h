#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "service/changes/contents.h"

namespace igloo::service::changes {

/// A branch inside that has commits of its own.
struct Tip {
  std::string branch = {};      ///< its name inside; "HEAD": no branch was checked out
  std::string object = {};      ///< of its last commit
  std::string arrives_as = {};  ///< its name in the project: igloo/NAME, or igloo/NAME.BRANCH
};

/// Branches in the upper layer that differ from all of the project's. Only names and numbers are
/// read; git sees nothing of the upper layer.
Result<std::vector<Tip>> NewTips(const Contents& contents);

/// Brings the commits of these into the project's repository, as branches. The objects are copied
/// as plain files into a repository of igloo's own, and only what git has found to be whole and in
/// order goes into the project. Nothing that is checked out changes. SECURITY: no configuration,
/// hook, attribute or alternate of the upper layer is ever read.
Result<void> BringCommits(const Contents& contents, const std::vector<Tip>& tips);

}  // namespace igloo::service::changes
