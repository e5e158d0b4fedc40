#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/console.h"
#include "service/changes/apply.h"

namespace igloo::cli {

/// What a person answered; nothing: there is nobody any more.
using Ask = std::function<std::optional<std::string>(const std::string& question)>;

/// Asks about every change, of text files about every hunk, as `git add -p` does: y, n, a (the rest
/// of this file, too), d (none of the rest of it), q (no more at all).
Result<service::changes::Choice> ChooseHunks(const service::changes::Contents& contents,
                                             const service::changes::ChangeList& list,
                                             const std::vector<std::string>& paths, const Ask& ask,
                                             Console& console);

}  // namespace igloo::cli
