#include "agent/state/merge_file.h"

#include "agent/state/host_file.h"
#include "agent/state/json_merge.h"
#include "agent/state/json_text.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

constexpr std::string_view kBothChanged =
    "it was changed on the host, too; the host's version stays";
constexpr int kAttempts = 5;
/// How much a box may add to a file of the user's that nobody looks through.
constexpr std::size_t kMaxGrowth = 1U << 20;

MergedText ConflictOfAll(const std::optional<std::string>& host, const std::string& box,
                         std::string why) {
  return {.text = host, .conflicts = {{"", host, box, std::move(why)}}};
}

/// Both sides only add: what the box added goes behind what the host has, once.
MergedText MergeLines(const std::string& base, const std::string& host, const std::string& box) {
  if (!box.starts_with(base)) return ConflictOfAll(host, box, "the box did more than add lines");
  const std::string added = box.substr(base.size());
  if (host.find(added) != std::string::npos) return {.text = host};
  const bool whole = host.empty() || host.ends_with('\n');
  return {.text = host + (whole ? "" : "\n") + added};
}

}  // namespace

MergedText MergeText(const FileRule& rule, const std::optional<std::string>& base,
                     const std::optional<std::string>& host, const std::string& box) {
  if (base == box || host == box) return {.text = host};
  if (base == host) return {.text = box};
  if (base && !host) return ConflictOfAll(host, box, "the file was removed on the host");
  if (rule.format == FileFormat::kLines) {
    return MergeLines(base.value_or(""), host.value_or(""), box);
  }
  if (rule.format != FileFormat::kJson) return ConflictOfAll(host, box, std::string(kBothChanged));
  auto merged = MergeJson({.file = std::string(rule.path),
                           .base = base,
                           .host = host,
                           .box = box,
                           .levels = rule.levels});
  if (!merged) return ConflictOfAll(host, box, merged.error().what);
  MergedText result{.text = std::move(merged->text)};
  for (JsonConflict& conflict : merged->conflicts) {
    result.conflicts.push_back({std::move(conflict.pointer), std::move(conflict.host),
                                std::move(conflict.box), std::string(kBothChanged)});
  }
  return result;
}

Result<FileOutcome> MergeIntoHost(const StateStore& store, const BoxFile& file) {
  const FileRule& rule = *file.rule;
  for (int attempt = 1;; ++attempt) {
    IGLOO_ASSIGN(const auto host, ReadHostFile(file.host, kMaxStateFile));
    FileOutcome outcome{.text = host.text};
    // What the box saw without a copy of its own is what the host has.
    const bool seen = !file.base && rule.handing == Handing::kSeen;
    const auto& before = seen ? host.text : file.base;
    SortedChanges sorted = SortChanges(rule, before, file.box);
    MergedText merged{.text = host.text};
    if (sorted.harmless) merged = MergeText(rule, before, host.text, *sorted.harmless);
    const bool all_taken = sorted.proposals.empty() && merged.conflicts.empty();
    outcome.host_kept = rule.is_secret && !all_taken;
    if (!rule.is_secret) {
      outcome.proposals = std::move(sorted.proposals);
      outcome.proposals.insert(outcome.proposals.end(), merged.conflicts.begin(),
                               merged.conflicts.end());
    }
    if (!merged.text || merged.text == host.text) {
      RemovePrepared(host);
      return outcome;
    }
    if (merged.text->size() > host.text.value_or("").size() + kMaxGrowth) {
      RemovePrepared(host);
      return Fail(Errc::kExhausted, "the box added more than " + HumanBytes(kMaxGrowth));
    }
    store.Step("write " + file.path);
    auto written = WriteHostFile(host, *merged.text);
    if (written) {
      store.Step("wrote " + file.path);
      outcome.written = true;
      outcome.text = std::move(merged.text);
      return outcome;
    }
    const bool changed = written.error().code == Errc::kFailedPrecondition;
    if (!changed || attempt == kAttempts) return std::unexpected(std::move(written).error());
  }
}

}  // namespace igloo::agent
