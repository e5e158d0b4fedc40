#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "service/changes/change.h"
#include "service/changes/line_diff.h"

namespace igloo::service::changes {
namespace {

/// Files beyond this many are compared by their whole content alone: every deleted one would be
/// compared with every added one.
constexpr std::size_t kMostByLines = 100;
constexpr std::uint64_t kLargest = 4U << 20;

bool IsFile(const std::optional<Node>& node) {
  return node && node->type == Type::kFile && node->size > 0 && node->size <= kLargest;
}

/// How much of the larger text is in the other one, too, by lines: 0 to 100.
std::size_t Likeness(const std::string& a, const std::string& b) {
  std::unordered_map<std::string_view, std::size_t> lines;
  for (const std::string_view line : LinesOf(a)) ++lines[line];
  std::size_t common = 0;
  for (const std::string_view line : LinesOf(b)) {
    const auto found = lines.find(line);
    if (found == lines.end() || found->second == 0) continue;
    --found->second;
    common += line.size();
  }
  return common * 100 / std::max(a.size(), b.size());
}

struct Side {
  Change* change;
  std::string content;
};

/// Those whose content can be had. Only sizes that both sides have, unless there are few files.
std::vector<Side> Read(const Contents& contents, std::vector<Change>& changes, Kind kind,
                       const std::set<std::uint64_t>& sizes) {
  std::vector<Side> sides;
  for (Change& change : changes) {
    const auto& node = kind == Kind::kDeleted ? change.before : change.after;
    if (change.kind != kind || !IsFile(node) || change.protection || !change.refused.empty()) {
      continue;
    }
    if (!sizes.empty() && !sizes.contains(node->size)) continue;
    auto content =
        kind == Kind::kDeleted ? contents.Before(change.path) : contents.After(change.path);
    if (content) sides.push_back({&change, *std::move(content)});
  }
  return sides;
}

std::set<std::uint64_t> CommonSizes(const std::vector<Change>& changes, std::size_t& files) {
  std::set<std::uint64_t> gone, common;
  for (const Change& change : changes) {
    if (change.kind == Kind::kDeleted && IsFile(change.before)) gone.insert(change.before->size);
    files += change.kind == Kind::kDeleted || change.kind == Kind::kAdded ? 1 : 0;
  }
  for (const Change& change : changes) {
    const bool fits = change.kind == Kind::kAdded && IsFile(change.after);
    if (fits && gone.contains(change.after->size)) common.insert(change.after->size);
  }
  return common;
}

void Join(Side& from, Side& to) {
  to.change->kind = Kind::kRenamed;
  to.change->from = from.change->path;
  to.change->before = from.change->before;
  from.change->path.clear();  // goes
  from.change = to.change = nullptr;
}

}  // namespace

void FindRenames(const Contents& contents, std::vector<Change>& changes) {
  std::size_t files = 0;
  std::set<std::uint64_t> sizes = CommonSizes(changes, files);
  const bool few = files <= 2 * kMostByLines;
  if (few) sizes.clear();
  if (!few && sizes.empty()) return;
  std::vector<Side> gone = Read(contents, changes, Kind::kDeleted, sizes);
  std::vector<Side> come = Read(contents, changes, Kind::kAdded, sizes);
  std::map<std::string_view, Side*> by_content;
  for (Side& side : gone) by_content.emplace(side.content, &side);
  for (Side& side : come) {
    const auto found = by_content.find(side.content);
    if (found == by_content.end()) continue;
    Join(*found->second, side);
    by_content.erase(found);
  }
  for (Side& to : come) {
    if (!few || to.change == nullptr || IsBinary(to.content)) continue;
    Side* best = nullptr;
    std::size_t most = 50;
    for (Side& from : gone) {
      if (from.change == nullptr || IsBinary(from.content)) continue;
      const std::size_t likeness = Likeness(from.content, to.content);
      if (likeness >= most) most = likeness + 1, best = &from;
    }
    if (best != nullptr) Join(*best, to);
  }
  std::erase_if(changes, [](const Change& change) { return change.path.empty(); });
}

}  // namespace igloo::service::changes
