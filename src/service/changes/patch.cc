#include "service/changes/patch.h"

#include <fmt/format.h>

#include "base/text.h"
#include "service/changes/git_objects.h"

namespace igloo::service::changes {
namespace {

/// As git has it: a file that can be started or not, or a link.
std::string_view GitMode(const Node& node) {
  if (node.type == Type::kLink) return "120000";
  return (node.mode & 0100) != 0 ? "100755" : "100644";
}

bool InGit(const std::optional<Node>& node) {
  return node && (node->type == Type::kFile || node->type == Type::kLink);
}

constexpr const char* kNoObject = "0000000000000000000000000000000000000000";

std::string LinesAndName(const std::string& label, const std::string& path) {
  // A tab ends a name with spaces for other readers of patches; git takes it, too.
  const bool spaces = path.find(' ') != std::string::npos && !path.starts_with('"');
  return label + " " + path + (spaces ? "\t\n" : "\n");
}

/// One side is there, or both have the same type: git has no patch that makes a link of a file.
struct Half {
  std::optional<Node> before, after;
  std::string from, path;
  const std::string &old_bytes, &new_bytes;
  bool text;
};

std::string Header(const Half& half) {
  const std::string old_path = PatchPath("a/", half.from), new_path = PatchPath("b/", half.path);
  std::string out = "diff --git " + old_path + " " + new_path + "\n";
  if (!half.before) out += fmt::format("new file mode {}\n", GitMode(*half.after));
  if (!half.after) out += fmt::format("deleted file mode {}\n", GitMode(*half.before));
  const bool both = half.before && half.after;
  const bool mode = both && GitMode(*half.before) != GitMode(*half.after);
  if (mode) {
    out += fmt::format("old mode {}\nnew mode {}\n", GitMode(*half.before), GitMode(*half.after));
  }
  if (half.from != half.path) {
    out += fmt::format("similarity index {}%\nrename from {}\nrename to {}\n",
                       half.old_bytes == half.new_bytes ? 100 : 50, PatchPath("", half.from),
                       PatchPath("", half.path));
  }
  return out;
}

std::string PatchOfHalf(const Half& half) {
  std::string out = Header(half);
  const bool same = half.before && half.after && half.old_bytes == half.new_bytes;
  if (same) return out;
  out += fmt::format("index {}..{}", half.before ? BlobName(half.old_bytes) : kNoObject,
                     half.after ? BlobName(half.new_bytes) : kNoObject);
  const bool both = half.before && half.after;
  const bool mode = both && GitMode(*half.before) != GitMode(*half.after);
  out += both && !mode ? fmt::format(" {}\n", GitMode(*half.after)) : "\n";
  if (!half.text) {
    return out + "GIT binary patch\n" + BinaryLiteral(half.new_bytes) +
           BinaryLiteral(half.old_bytes);
  }
  const auto old_lines = LinesOf(half.old_bytes), new_lines = LinesOf(half.new_bytes);
  const auto hunks = HunksOf(Compare(old_lines, new_lines), old_lines.size(), new_lines.size());
  if (hunks.empty()) return out;
  out += LinesAndName("---", half.before ? PatchPath("a/", half.from) : "/dev/null");
  out += LinesAndName("+++", half.after ? PatchPath("b/", half.path) : "/dev/null");
  for (const Hunk& hunk : hunks) out += TextOf(hunk, old_lines, new_lines);
  return out;
}

}  // namespace

Result<Sides> SidesOf(const Contents& contents, const Change& change) {
  Sides sides;
  if (!change.refused.empty()) {
    return Fail(Errc::kFailedPrecondition, "'" + Printable(change.path) + "': " + change.refused);
  }
  if (InGit(change.before)) {
    IGLOO_ASSIGN(sides.before, contents.Before(change.from.empty() ? change.path : change.from));
  }
  if (InGit(change.after)) {
    IGLOO_ASSIGN(sides.after, contents.After(change.path));
  }
  sides.text = !IsBinary(sides.before) && !IsBinary(sides.after);
  return sides;
}

Result<std::string> PatchOf(const Contents& contents, const Change& change) {
  if (!InGit(change.before) && !InGit(change.after) && change.refused.empty()) return "";
  IGLOO_ASSIGN(const Sides sides, SidesOf(contents, change));
  const std::string nothing;
  const std::string from = change.from.empty() ? change.path : change.from;
  const auto before = InGit(change.before) ? change.before : std::nullopt;
  const auto after = InGit(change.after) ? change.after : std::nullopt;
  if (before && after && before->type != after->type) {
    return PatchOfHalf({before, {}, from, from, sides.before, nothing, !IsBinary(sides.before)}) +
           PatchOfHalf(
               {{}, after, change.path, change.path, nothing, sides.after, !IsBinary(sides.after)});
  }
  const bool unchanged = before && after && sides.before == sides.after && from == change.path &&
                         GitMode(*before) == GitMode(*after);
  if (unchanged) return "";  // permissions that git does not know
  return PatchOfHalf({before, after, from, change.path, sides.before, sides.after, sides.text});
}

Result<Stat> StatOf(const Contents& contents, const Change& change) {
  IGLOO_ASSIGN(const Sides sides, SidesOf(contents, change));
  if (!sides.text) return Stat{true, sides.after.size(), sides.before.size()};
  Stat stat;
  for (const Edit& edit : Compare(LinesOf(sides.before), LinesOf(sides.after))) {
    stat.added += edit.new_end - edit.new_begin;
    stat.removed += edit.old_end - edit.old_begin;
  }
  return stat;
}

Result<HunkList> HunksOf(const Contents& contents, const Change& change) {
  HunkList list;
  const bool file = change.before && change.after && change.before->type == Type::kFile &&
                    change.after->type == Type::kFile && change.from.empty();
  if (!file) return list;
  IGLOO_ASSIGN(list.sides, SidesOf(contents, change));
  if (!list.sides.text) return list;
  const auto before = LinesOf(list.sides.before), after = LinesOf(list.sides.after);
  list.hunks = HunksOf(Compare(before, after), before.size(), after.size());
  for (const Hunk& hunk : list.hunks) list.texts.push_back(TextOf(hunk, before, after));
  return list;
}

}  // namespace igloo::service::changes
