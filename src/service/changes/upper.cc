#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>

#include "base/text.h"
#include "service/changes/change.h"
#include "service/changes/named_by_git.h"

namespace igloo::service::changes {
namespace {

constexpr std::size_t kMostChanges = 1'000'000;

/// Which marks of the overlay a node has: without privileges they live in user attributes.
bool HasMark(int node, const char* name) {
  char value[2];
  const std::string own = "/proc/self/fd/" + std::to_string(node);
  return ::getxattr(own.c_str(), name, value, sizeof value) >= 0 || errno == ERANGE;
}

bool IsWhiteout(int node, const struct stat& info) {
  if (S_ISCHR(info.st_mode)) return info.st_rdev == 0;
  return S_ISREG(info.st_mode) && info.st_size == 0 && HasMark(node, "user.overlay.whiteout");
}

class Reader {
 public:
  explicit Reader(const Contents& contents)
      : contents_(contents),
        base_(contents.base()),
        named_(contents.set(), contents.project(), contents.base()) {
    const Node* git = base_.Find(".git");
    own_git_ = git != nullptr && git->type == Type::kDirectory;
  }

  Result<ChangeList> Read() {
    IGLOO_TRY(Directory(contents_.upper().fd(), "", 0));
    for (Change& change : list_.changes) Protect(change);
    std::ranges::sort(list_.changes, {}, &Change::path);
    if (!contents_.set().repository.empty()) list_.git = HasNames(contents_.set());
    return std::move(list_);
  }

 private:
  /// Whether something was written to a repository that lies elsewhere.
  static bool HasNames(const ChangeSet& set) {
    const auto upper = Tree::Open(set.place + "/repository/upper");
    bool any = false;
    if (upper) {
      (void)EachName(upper->fd(), [&](const char*) -> Result<void> {
        any = true;
        return {};
      });
    }
    return any;
  }

  Result<void> Directory(int directory, const std::string& path, std::size_t depth) {
    if (depth > kDeepest) return Refused(path, "it lies too deep");
    std::set<std::string> seen;
    const UniqueFd itself = OpenBeneath(directory, "", O_PATH | O_DIRECTORY);
    const bool opaque = itself && HasMark(itself.get(), "user.overlay.opaque");
    auto read = EachName(directory, [&](const char* name) -> Result<void> {
      const std::string below = path.empty() ? name : path + "/" + name;
      if (opaque) seen.insert(name);
      return Name(directory, name, below, depth);
    });
    if (!read && read.error().code != Errc::kExhausted) return Refused(path, read.error().what);
    IGLOO_TRY(std::move(read));
    // Of the base, only what stands here again.
    if (opaque) return DeleteOthers(path, seen);
    return {};
  }

  Result<void> DeleteOthers(const std::string& path, const std::set<std::string>& seen) {
    for (const std::string& below : base_.Below(path)) {
      const std::size_t begin = path.empty() ? 0 : path.size() + 1;
      const std::string first = below.substr(begin, below.find('/', begin) - begin);
      if (!seen.contains(first)) IGLOO_TRY(Delete(below));
    }
    return {};
  }

  Result<void> Name(int directory, const char* name, const std::string& path, std::size_t depth) {
    const UniqueFd node = OpenBeneath(directory, name, O_PATH);
    struct stat info{};
    if (!node || ::fstat(node.get(), &info) != 0) return Refused(path, "it cannot be looked at");
    if (IsWhiteout(node.get(), info)) return DeleteAll(path);
    const Node after = NodeOf(info);
    if (after.type == Type::kOther) {
      return Refused(path, "it is a device, a socket or a named pipe");
    }
    for (const char* mark : {"user.overlay.metacopy", "user.overlay.redirect"}) {
      if (HasMark(node.get(), mark)) return Refused(path, "its content lies elsewhere");
    }
    const Node* before = base_.Find(path);
    const bool was_directory = before != nullptr && before->type == Type::kDirectory;
    if (after.type != Type::kDirectory) {
      // What stood below a directory that became a file is gone.
      if (was_directory) IGLOO_TRY(DeleteOthers(path, {}));
      return Compare(path, before, after);
    }
    if (!was_directory || before->mode != after.mode) IGLOO_TRY(Compare(path, before, after));
    const UniqueFd below = OpenBeneath(directory, name, O_RDONLY | O_DIRECTORY);
    if (!below) return Refused(path, "it cannot be read");
    return Directory(below.get(), path, depth + 1);
  }

  Result<void> Compare(const std::string& path, const Node* before, const Node& after) {
    if (before == nullptr) return Add({.kind = Kind::kAdded, .path = path, .after = after});
    if (before->type == after.type && before->mode == after.mode) {
      auto same = SameContent(path, *before, after);
      if (!same) return Refused(path, same.error().what);
      if (*same) return {};
    }
    return Add({.kind = Kind::kChanged, .path = path, .before = *before, .after = after});
  }

  /// Also true for a file that was opened for writing and left as it was: it has been copied up.
  Result<bool> SameContent(const std::string& path, const Node& before, const Node& after) const {
    if (after.type == Type::kDirectory) return true;
    if (before.size != after.size) return false;
    if (contents_.IsUntouched(path) && after.type == Type::kFile) {
      IGLOO_ASSIGN(const UniqueFd theirs, contents_.upper().OpenFile(path));
      IGLOO_ASSIGN(const UniqueFd ours, contents_.project().OpenFile(path));
      return SameBytes(theirs.get(), ours.get());
    }
    const auto old = contents_.Before(path);
    if (!old) return false;
    IGLOO_ASSIGN(const std::string fresh, contents_.After(path));
    return *old == fresh;
  }

  Result<void> DeleteAll(const std::string& path) {
    for (const std::string& below : base_.Below(path)) IGLOO_TRY(Delete(below));
    return Delete(path);
  }

  Result<void> Delete(const std::string& path) {
    const Node* before = base_.Find(path);
    if (before == nullptr) return {};  // came and went inside, or a name that git made
    return Add({.kind = Kind::kDeleted, .path = path, .before = *before});
  }

  Result<void> Refused(const std::string& path, std::string why) {
    if (path.empty()) return Fail(Errc::kFailedPrecondition, "cannot read the changes: " + why);
    const Node* before = base_.Find(path);
    Change change{.kind = before != nullptr ? Kind::kChanged : Kind::kAdded,
                  .path = path,
                  .refused = std::move(why)};
    if (before != nullptr) change.before = *before;
    return Add(std::move(change));
  }

  /// What programs of the host's obey because of what else is there.
  void Protect(Change& change) {
    if (change.after && change.after->type == Type::kLink) {
      change.link = contents_.After(change.path).value_or("?");
      if (!change.protection) change.protection = ProtectionOfLink(change.path, change.link);
    }
    const bool directory = change.after && change.after->type == Type::kDirectory;
    if (!change.protection) change.protection = named_.ProtectionOf(change.path, directory);
    if (!change.protection) change.protection = ProtectionOfRepository(change.path);
  }

  /// A directory that becomes a repository of git, whatever it is called.
  Protection ProtectionOfRepository(const std::string& path) {
    for (std::string place = path; !place.empty();) {
      place = ParentOf(place);
      if (!IsRepository(place)) continue;
      if (!place.empty()) return {place, kRepositoryReason};
      // The project itself is one, with other files around it.
      constexpr auto kOwn = std::to_array<std::string_view>(
          {"HEAD", "objects", "refs", "commondir", "config", "hooks", "info", "packed-refs"});
      const std::string first = path.substr(0, path.find('/'));
      if (std::ranges::find(kOwn, first) != kOwn.end()) return {first, kRepositoryReason};
    }
    return {};
  }

  /// As git asks, and a little more often: what these names are is not looked at.
  bool IsRepository(const std::string& place) {
    if (place.empty() && base_.Find(".git") != nullptr) return false;  // git takes that first
    const auto [known, fresh] = repositories_.try_emplace(place, false);
    if (!fresh) return known->second;
    const auto has = [&](const char* name) {
      const std::string path = place.empty() ? name : place + "/" + name;
      const auto node = contents_.upper().Look(path);
      return node ? node->type != Type::kOther : base_.Find(path) != nullptr;
    };
    const bool is = has("HEAD") && ((has("objects") && has("refs")) || has("commondir"));
    return known->second = is;
  }

  Result<void> Add(Change change) {
    change.protection = ProtectionOf(change.path, own_git_);
    if (own_git_ && IsGitsOwn(change.path)) {
      list_.git = true;
      return {};
    }
    if (list_.changes.size() >= kMostChanges) {
      return Fail(Errc::kExhausted, "the change set has more than a million changes",
                  "give it up: igloo discard " + contents_.set().name);
    }
    list_.changes.push_back(std::move(change));
    return {};
  }

  const Contents& contents_;
  const BaseRecord& base_;
  NamedByGit named_;
  bool own_git_ = false;
  std::map<std::string, bool> repositories_ = {};  ///< directories that were asked about
  ChangeList list_ = {};
};

}  // namespace

std::string_view Letter(Kind kind) {
  switch (kind) {
    case Kind::kAdded:
      return "A";
    case Kind::kChanged:
      return "M";
    case Kind::kDeleted:
      return "D";
    case Kind::kRenamed:
      return "R";
  }
  return "?";
}

Result<ChangeList> ReadChanges(const Contents& contents) {
  IGLOO_ASSIGN(ChangeList list, Reader(contents).Read());
  FindRenames(contents, list.changes);
  return list;
}

}  // namespace igloo::service::changes
