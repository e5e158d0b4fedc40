#pragma once

#include <string>
#include <vector>

#include "cli/console.h"
#include "service/changes/apply.h"
#include "service/changes/change.h"
#include "service/changes/change_set.h"
#include "service/changes/commits.h"

namespace igloo::cli {

/// "running", "ready", ...
std::string_view StateText(service::changes::ChangeSet::State state);

std::string ListText(const std::vector<service::changes::ChangeSet>& sets, const Console& console);
std::string ListJson(const std::vector<service::changes::ChangeSet>& sets);

/// What is shown of a change set.
struct Shown {
  std::vector<service::changes::Change> changes = {};
  std::vector<service::changes::Tip> tips = {};
};
/// A line for each change, as git status has them.
std::string NamesText(const Shown& shown, const Console& console);
/// How many lines came and went.
std::string StatText(const service::changes::Contents& contents, const Shown& shown,
                     const Console& console);
/// The patch; what has none is added to `missing`.
std::string PatchText(const service::changes::Contents& contents, const Shown& shown,
                      const Console& console, std::vector<Error>& missing);
std::string ShowJson(const service::changes::Contents& contents, const Shown& shown, bool patch);

/// A patch in the colours of git.
std::string PaintPatch(const std::string& patch, const Console& console);

/// What an apply did, and what is to be done about what it did not.
void SayOutcome(const service::changes::ChangeSet& set, const service::changes::Outcome& outcome,
                const std::vector<service::changes::Tip>& brought, Console& console);
std::string OutcomeJson(const service::changes::ChangeSet& set,
                        const service::changes::Outcome& outcome,
                        const std::vector<service::changes::Tip>& brought);

/// A path as it can be written behind a command: with quotation marks where it needs them.
std::string ShownPath(const std::string& path);

}  // namespace igloo::cli
