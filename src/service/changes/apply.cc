#include "service/changes/apply.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "service/changes/merge.h"
#include "service/changes/patch.h"

namespace igloo::service::changes {
namespace {

constexpr const char* kChangedHere = "it was changed on the host, too";

bool IsLeaf(const std::optional<Node>& node) { return node && node->type != Type::kDirectory; }

/// A path as people write it: "./a/b/" is "a/b".
std::string Plain(std::string path) {
  while (path.starts_with("./")) path.erase(0, 2);
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path == "." ? "" : path;
}

class Plan {
 public:
  Plan(const Contents& contents, const Choice& choice) : contents_(contents), choice_(choice) {
    for (const std::string& path : choice.paths) paths_.push_back(Plain(path));
  }

  Result<void> Add(const std::vector<Change>& changes) {
    for (const Change& change : changes) {
      if (!Chosen(change)) continue;
      if (!change.refused.empty()) {
        outcome_.refused.push_back({change.path, change.refused});
      } else if (change.protection && !Named(change.protection.place)) {
        outcome_.withheld.push_back({change.path, std::string(change.protection.reason)});
      } else if (auto decided = Decide(change); !decided) {
        // One file that cannot be read leaves the others as they are.
        outcome_.refused.push_back({change.path, std::move(decided).error().what});
      }
    }
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (used_.contains(i)) continue;
      return Fail(
          Errc::kNotFound,
          "'" + contents_.set().name + "' changed nothing at '" + Printable(choice_.paths[i]) + "'",
          "igloo changes show " + contents_.set().name + " lists what it changed");
    }
    return {};
  }

  /// Deletions first and the deepest of them first, then what is new from the top: a file may
  /// become a directory and the other way round.
  std::vector<Operation> TakeOperations() {
    const auto rank = [](const Operation& each) {
      switch (each.kind) {
        case Operation::Kind::kRemove:
          return 0;
        case Operation::Kind::kRemoveDirectory:
          return 1;
        case Operation::Kind::kMakeDirectory:
          return 2;
        case Operation::Kind::kPut:
          return 3;
        case Operation::Kind::kMode:
          return 4;
      }
      return 5;
    };
    std::ranges::sort(operations_, [&](const Operation& a, const Operation& b) {
      if (rank(a) != rank(b)) return rank(a) < rank(b);
      // A directory's mode last of all: it may close the directory.
      const bool deepest_first = rank(a) == 1 || rank(a) == 4;
      return deepest_first ? a.path > b.path : a.path < b.path;
    });
    return std::move(operations_);
  }

  Outcome& outcome() { return outcome_; }

 private:
  bool Chosen(const Change& change) {
    if (paths_.empty()) return true;
    bool chosen = false;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const bool holds = choice_.exact ? change.path == paths_[i] : LiesIn(change.path, paths_[i]);
      if (!holds && (change.from.empty() || change.from != paths_[i])) {
        continue;
      }
      used_.insert(i);
      chosen = true;
    }
    return chosen;
  }

  /// "." and ".git" do not name ".git/hooks".
  bool Named(const std::string& place) const {
    return std::ranges::any_of(paths_,
                               [&](const std::string& path) { return LiesIn(path, place); });
  }

  Result<void> Decide(const Change& change) {
    if (const std::string link = LinkOnTheWay(change.path); !link.empty()) {
      Conflict(change, "'" + link + "' on the way to it is no directory on the host");
      return {};
    }
    for (const std::string& path : {change.path, change.from}) {
      IGLOO_TRY(CheckOwners(path));
    }
    switch (change.kind) {
      case Kind::kDeleted:
        Delete(change.path, change);
        return {};
      case Kind::kRenamed:
        return Rename(change);
      case Kind::kAdded:
      case Kind::kChanged:
        return Put(change);
    }
    return {};
  }

  /// In somebody else's project root does what its owner could do. So another user's file stays,
  /// and so does what lies in another user's directory.
  Result<void> CheckOwners(std::string path) const {
    const ActingUser& user = contents_.project().user();
    if (!user.other()) return {};
    for (bool directory = false; !path.empty() && !directory; path = ParentOf(path)) {
      const UniqueFd found = OpenBeneath(contents_.project().fd(), path, O_PATH);
      struct stat info{};
      if (!found || ::fstat(found.get(), &info) != 0) continue;
      directory = S_ISDIR(info.st_mode);
      if (info.st_uid == user.user()) continue;
      return Fail(Errc::kPermissionDenied,
                  "'" + Printable(path) + "' belongs to user " + std::to_string(info.st_uid) +
                      ", and root changes this project with the rights of its owner alone");
    }
    return {};
  }

  /// SECURITY: nothing is written through a link, wherever it leads.
  std::string LinkOnTheWay(const std::string& path) const {
    for (std::string parent = ParentOf(path); !parent.empty(); parent = ParentOf(parent)) {
      const auto node = contents_.project().Look(parent);
      const Node* base = contents_.base().Find(parent);
      if (!node || node->type == Type::kDirectory) continue;
      // One that the changes themselves turn into a directory.
      const bool turned =
          base != nullptr && base->type != Type::kDirectory && Untouched(*base, *node);
      if (!turned) return Printable(parent);
    }
    return "";
  }

  /// True: it goes, or is gone.
  bool Delete(const std::string& path, const Change& change) {
    const auto now = contents_.project().Look(path);
    if (!now) {
      outcome_.already.push_back(path);
      return true;
    }
    if (change.before->type == Type::kDirectory) {
      operations_.push_back({.kind = Operation::Kind::kRemoveDirectory, .path = path});
      outcome_.applied.push_back(path);
      return true;
    }
    if (!IsBase(path, *change.before, *now)) {
      Conflict(change, "it was deleted in the sandbox and changed on the host");
      return false;
    }
    operations_.push_back({.kind = Operation::Kind::kRemove, .path = path, .expected = now});
    outcome_.applied.push_back(path);
    return true;
  }

  Result<void> Rename(const Change& change) {
    const auto now = contents_.project().Look(change.from);
    if (now && !IsBase(change.from, *change.before, *now)) {
      Conflict(change,
               "'" + Printable(change.from) + "' was renamed to it and changed on the host");
      return {};
    }
    Change added = change;
    added.before.reset();
    const std::size_t conflicts = outcome_.conflicts.size();
    IGLOO_TRY(Put(added));
    if (now && outcome_.conflicts.size() == conflicts) {
      operations_.push_back(
          {.kind = Operation::Kind::kRemove, .path = change.from, .expected = now});
    }
    return {};
  }

  /// Whether the host has what the base had, perhaps in a file that was written anew.
  bool IsBase(const std::string& path, const Node& before, const Node& now) const {
    if (Untouched(before, now)) return true;
    if (before.type != now.type || before.size != now.size) return false;
    const auto old = contents_.Before(path);
    const auto here = contents_.Now(path);
    return old && here && *old == *here;
  }

  Result<void> Put(const Change& change) {
    const auto now = contents_.project().Look(change.path);
    const Node& after = *change.after;
    if (after.type == Type::kDirectory) {
      Directory(change, now);
      return {};
    }
    if (now && now->type == Type::kDirectory) {
      if (change.before && change.before->type == Type::kDirectory) {
        // What was in it goes with changes of their own.
        operations_.push_back({.kind = Operation::Kind::kRemoveDirectory, .path = change.path});
        return Write(change, std::nullopt, std::nullopt);
      }
      Conflict(change, "it is a directory on the host");
      return {};
    }
    if (now && !choice_.hunks.contains(change.path)) {
      IGLOO_ASSIGN(const bool same, IsAfter(change, *now));
      if (same) {
        outcome_.already.push_back(change.path);
        return {};
      }
    }
    if (!change.before) {
      if (now) {
        Conflict(change, "it was added on the host, too, with another content");
        return {};
      }
      return Write(change, std::nullopt, std::nullopt);
    }
    if (!now) {
      Conflict(change, "it was deleted on the host");
      return {};
    }
    return Combine(change, *now);
  }

  /// A file or link of the base that the host still has in some form.
  Result<void> Combine(const Change& change, const Node& now) {
    IGLOO_ASSIGN(const auto chosen, ChosenHunks(change));
    if (IsBase(change.path, *change.before, now)) return Write(change, now, chosen);
    const bool files = change.before->type == Type::kFile && now.type == Type::kFile &&
                       change.after->type == Type::kFile;
    const bool small = files && std::max({change.after->size, now.size}) <= kLargestText;
    auto base = small ? contents_.Before(change.path) : Fail(Errc::kNotFound, "");
    if (!base) {
      Conflict(change, files ? "it was changed on the host, too, and without git nobody knows what "
                               "it was before"
                             : kChangedHere);
      return {};
    }
    IGLOO_ASSIGN(const std::string ours, contents_.Now(change.path));
    std::string theirs;
    if (chosen) {
      theirs = *chosen;
    } else {
      IGLOO_ASSIGN(theirs, contents_.After(change.path));
    }
    const bool text = !IsBinary(*base) && !IsBinary(ours) && !IsBinary(theirs);
    auto merged = text ? Merge(*base, ours, theirs) : std::nullopt;
    if (!merged) {
      Conflict(change, text ? "the same lines were changed on the host" : kChangedHere);
      return {};
    }
    outcome_.merged.push_back(change.path);
    return Write(change, now, std::move(*merged));
  }

  /// The base with the hunks that were chosen; nothing: the whole file was.
  Result<std::optional<std::string>> ChosenHunks(const Change& change) const {
    const auto chosen = choice_.hunks.find(change.path);
    if (chosen == choice_.hunks.end()) return std::nullopt;
    IGLOO_ASSIGN(const HunkList list, HunksOf(contents_, change));
    return WithHunks(LinesOf(list.sides.before), LinesOf(list.sides.after), list.hunks,
                     chosen->second);
  }

  Result<bool> IsAfter(const Change& change, const Node& now) const {
    const Node& after = *change.after;
    if (now.type != after.type || now.size != after.size) return false;
    if (ModeFor(change, now) != (now.mode & 0777) && after.type == Type::kFile) return false;
    if (after.type == Type::kLink) {
      IGLOO_ASSIGN(const std::string here, contents_.Now(change.path));
      IGLOO_ASSIGN(const std::string there, contents_.After(change.path));
      return here == there;
    }
    IGLOO_ASSIGN(const UniqueFd theirs, contents_.upper().OpenFile(change.path));
    IGLOO_ASSIGN(const UniqueFd ours, contents_.project().OpenFile(change.path));
    return SameBytes(theirs.get(), ours.get());
  }

  /// The sandbox's mode if it changed there, otherwise the host's.
  static std::uint32_t ModeFor(const Change& change, const std::optional<Node>& now) {
    const bool changed = !change.before || change.before->mode != change.after->mode;
    const std::uint32_t mode = changed || !now ? change.after->mode : now->mode;
    return mode & 0777;
  }

  Result<void> Write(const Change& change, const std::optional<Node>& now,
                     std::optional<std::string> content) {
    Operation operation{.kind = Operation::Kind::kPut,
                        .path = change.path,
                        .expected = now,
                        .mode = ModeFor(change, now),
                        .link = change.after->type == Type::kLink,
                        .content = std::move(content)};
    if (operation.link) {
      IGLOO_ASSIGN(operation.content, contents_.After(change.path));
    } else if (!operation.content) {
      // One that cannot be read is noticed here and not when others are being written.
      IGLOO_TRY(contents_.upper().OpenFile(change.path));
    }
    MakeParents(change.path);
    operations_.push_back(std::move(operation));
    outcome_.applied.push_back(change.path);
    return {};
  }

  void Directory(const Change& change, const std::optional<Node>& now) {
    if (now && now->type == Type::kDirectory) {
      const bool mode = change.before && change.before->mode != change.after->mode &&
                        (change.after->mode & 0777) != (now->mode & 0777);
      if (!mode) return outcome_.already.push_back(change.path);
      operations_.push_back(
          {.kind = Operation::Kind::kMode, .path = change.path, .mode = change.after->mode & 0777});
      return outcome_.applied.push_back(change.path);
    }
    if (now) {
      if (!IsLeaf(change.before) || !IsBase(change.path, *change.before, *now)) {
        return Conflict(change, "it is no directory on the host");
      }
      operations_.push_back(
          {.kind = Operation::Kind::kRemove, .path = change.path, .expected = now});
    }
    MakeDirectory(change.path, change.after->mode);
    outcome_.applied.push_back(change.path);
  }

  void MakeDirectory(const std::string& path, std::uint32_t mode) {
    if (!made_.insert(path).second) return;
    MakeParents(path);
    // Whatever its mode, what is in it has to be written first.
    operations_.push_back(
        {.kind = Operation::Kind::kMakeDirectory, .path = path, .mode = (mode & 0777) | 0700});
  }

  /// Those that are missing, also because somebody removed them on the host.
  void MakeParents(const std::string& path) {
    const std::string parent = ParentOf(path);
    if (parent.empty()) return;
    const auto now = contents_.project().Look(parent);
    if (now && now->type == Type::kDirectory) return;
    const auto after = contents_.upper().Look(parent);
    MakeDirectory(parent, after ? after->mode : 0755);
  }

  void Conflict(const Change& change, std::string why) {
    outcome_.conflicts.push_back({change.path, std::move(why)});
  }

  const Contents& contents_;
  const Choice& choice_;
  std::vector<std::string> paths_ = {};
  std::set<std::size_t> used_ = {};  ///< those of them that named a change
  std::set<std::string> made_ = {};
  std::vector<Operation> operations_ = {};
  Outcome outcome_ = {};
};

}  // namespace

Result<Outcome> Apply(const Contents& contents, const ChangeList& list, const Choice& choice,
                      const AtStep& at_step) {
  Plan plan(contents, choice);
  IGLOO_TRY(plan.Add(list.changes));
  Outcome outcome = plan.outcome();
  IGLOO_ASSIGN(const Left left, Carry(contents.set(), contents.project(), contents.upper(),
                                      plan.TakeOperations(), at_step));
  for (const std::string& path : left) {
    std::erase(outcome.applied, path);
    std::erase(outcome.merged, path);
    outcome.conflicts.push_back({path, "somebody changed it while the changes were applied"});
  }
  return outcome;
}

}  // namespace igloo::service::changes
