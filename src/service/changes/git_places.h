#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "service/changes/acting_user.h"

namespace igloo::service::changes {

/// Fails if git must not write to this open repository as `user`: the repository or, for root, a
/// directory in or above it belongs to somebody else, or there is a link at a place that git writes
/// to.
/// `path`: of the repository.
Result<void> CheckGitPlaces(int repository, const std::string& path, const ActingUser& user);

/// Fails if there is already something at the place of this branch or of its log.
Result<void> CheckGitBranch(int repository, const std::string& path, const std::string& branch);

}  // namespace igloo::service::changes
