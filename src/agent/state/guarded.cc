#include "agent/state/guarded.h"

#include <algorithm>

#include "agent/state/flat_keys.h"
#include "agent/state/json_sort.h"

namespace igloo::agent {
namespace {

/// How the first keys of a path fit a row: all of the row, only its beginning, or not at all.
enum class Fit { kNone, kBeginning, kAll };

Fit FitOf(std::string_view row, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    const std::size_t slash = row.find('/');
    if (!FitsPattern(row.substr(0, slash), key)) return Fit::kNone;
    if (slash == std::string_view::npos) return Fit::kAll;
    row.remove_prefix(slash + 1);
  }
  return Fit::kBeginning;
}

SortedChanges ProposeAll(const FileRule& rule, const std::optional<std::string>& before,
                         const std::optional<std::string>& after, std::string why) {
  if (why.empty()) why = std::string(rule.why);
  return {.harmless = before, .proposals = {{"", before, after, std::move(why)}}};
}

/// Those keys that the host would run or trust.
std::vector<FlatKey> Guarded(const FileRule& rule, std::vector<FlatKey> keys) {
  std::erase_if(keys, [&](const FlatKey& key) {
    const Decision decision = Decide(rule, key.keys);
    // A table as one value may hold anything that has a row of its own; the header of one does not.
    const bool hides = decision.mixed && !key.value.empty();
    return decision.treatment == Treatment::kHarmless && !hides && IsPlainValue(rule, key);
  });
  return keys;
}

/// TOML and git's configuration: the keys are compared, and the text is taken as a whole. Their
/// order counts, because the last of git's keys of one name does.
SortedChanges SortFlat(const FileRule& rule, const std::optional<std::string>& before,
                       const std::optional<std::string>& after) {
  auto old_keys = ReadFlatKeys(rule, before.value_or(""));
  auto new_keys = ReadFlatKeys(rule, after.value_or(""));
  if (!old_keys || !new_keys) {
    return ProposeAll(rule, before, after, (old_keys ? new_keys : old_keys).error().what);
  }
  const auto was = Guarded(rule, *std::move(old_keys)), is = Guarded(rule, *std::move(new_keys));
  const auto difference = std::ranges::mismatch(was, is);
  if (difference.in1 == was.end() && difference.in2 == is.end()) return {.harmless = after};
  const FlatKey& key = difference.in2 == is.end() ? *difference.in1 : *difference.in2;
  return ProposeAll(rule, before, after,
                    NameOf(key) + ": " + std::string(Decide(rule, key.keys).why));
}

}  // namespace

bool FitsPattern(std::string_view pattern, std::string_view text) {
  // Where to go on when the characters behind the last '*' do not fit.
  std::size_t star = std::string_view::npos, resume = 0, at = 0, i = 0;
  while (i < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = i;
    } else if (at < pattern.size() && pattern[at] == text[i]) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

bool ChangesPrototypes(std::string_view key) {
  return key == "__proto__" || key == "constructor" || key == "prototype";
}

Decision Decide(const FileRule& rule, const std::vector<std::string>& keys) {
  // SECURITY: programs in JavaScript that copy members one by one change their own objects by it.
  const bool read_by_git = rule.format == FileFormat::kGitConfig;
  if (!read_by_git && std::ranges::any_of(keys, ChangesPrototypes)) {
    return {Treatment::kProposed, kPrototypes};
  }
  Decision decision{rule.otherwise, rule.why};
  for (const KeyRule& row : rule.keys) {
    const Fit fit = FitOf(row.keys, keys);
    if (fit == Fit::kAll) return {row.treatment, row.why, decision.mixed};
    if (fit == Fit::kBeginning) decision.mixed = true;
  }
  return decision;
}

const AgentFiles* FindAgentFiles(std::string_view agent) {
  const auto all = AllAgentFiles();
  const auto found = std::ranges::find(all, agent, &AgentFiles::agent);
  return found == all.end() ? nullptr : &*found;
}

const FileRule* RuleFor(const AgentFiles& agent, std::string_view path) {
  const auto fits = [&](const FileRule& rule) {
    return rule.path.ends_with('/') ? path.starts_with(rule.path) : FitsPattern(rule.path, path);
  };
  const auto found = std::ranges::find_if(agent.files, fits);
  return found == agent.files.end() ? nullptr : &*found;
}

SortedChanges SortChanges(const FileRule& rule, const std::optional<std::string>& before,
                          const std::optional<std::string>& after) {
  if (before == after) return {.harmless = before};
  if (rule.otherwise == Treatment::kDropped) return {.harmless = before};
  const bool all_harmless = rule.keys.empty() && rule.otherwise == Treatment::kHarmless;
  if (all_harmless && rule.format != FileFormat::kJson) return {.harmless = after};
  switch (rule.format) {
    case FileFormat::kJson: {
      auto sorted = SortJson(rule, before, after);
      if (sorted) return *std::move(sorted);
      return ProposeAll(rule, before, after, sorted.error().what);
    }
    case FileFormat::kToml:
    case FileFormat::kGitConfig:
      return SortFlat(rule, before, after);
    case FileFormat::kWhole:
    case FileFormat::kLines:
      break;
  }
  return ProposeAll(rule, before, after, "");
}

}  // namespace igloo::agent
