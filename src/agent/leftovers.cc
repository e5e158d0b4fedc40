#include "agent/leftovers.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "agent/state/projects.h"
#include "base/private_directory.h"
#include "base/remove_tree.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "sandbox/path.h"
#include "service/changes/change_set.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;

/// Where disks come and go.
constexpr std::array<std::string_view, 4> kRemovable = {"/media", "/mnt", "/run/media", "/net"};

std::vector<std::string> DirectoriesIn(const std::string& path) {
  std::vector<std::string> found;
  std::error_code failure;
  for (fs::directory_iterator at(path, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (at->is_directory(failure) && !at->is_symlink(failure)) found.push_back(at->path().string());
  }
  return found;
}

/// A box locks the history that it shows (LockHistory).
Result<Leftover> CollectHistory(const StaleHistory& stale, Collect collect) {
  Leftover left{.kind = "history", .what = stale.root, .why = "the project is gone"};
  left.bytes = SizeOf(stale.directory);
  const UniqueFd directory(
      ::open(stale.directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory || ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
    left.why = "a box uses it";
    left.kept = true;
  } else if (std::string back = MayComeBack(stale.root); !back.empty()) {
    left.why = std::move(back);
    left.kept = true;
  } else if (collect == Collect::kRemove) {
    IGLOO_TRY(RemoveTree(stale.directory));
  }
  return left;
}

}  // namespace

std::string MayComeBack(const std::string& path) {
  for (const std::string_view each : kRemovable) {
    if (sandbox::IsWithin(path, std::string(each))) {
      return "its disk may only not be mounted now ('" + std::string(each) + "')";
    }
  }
  fs::path above = fs::path(path).parent_path();
  std::error_code failure;
  while (!fs::exists(above, failure) && above != above.parent_path()) above = above.parent_path();
  if (!fs::is_empty(above, failure) && !failure) return {};
  return "'" + Printable(above.string()) + "' is empty: its disk may only not be mounted now";
}

std::uint64_t SizeOf(const std::string& path) {
  std::uint64_t bytes = 0;
  std::error_code failure;
  for (fs::recursive_directory_iterator
           at(path, fs::directory_options::skip_permission_denied, failure),
       end;
       !failure && at != end; at.increment(failure)) {
    struct stat info{};
    if (::lstat(at->path().c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      bytes += static_cast<std::uint64_t>(info.st_size);
    }
  }
  return bytes;
}

Result<std::vector<Leftover>> CollectHistories(const StateStore& store, Collect collect) {
  std::vector<Leftover> all;
  for (const char* kind : {"/histories", "/sessions"}) {
    for (const std::string& of_agent : DirectoriesIn(store.directory + kind)) {
      IGLOO_ASSIGN(const std::vector<StaleHistory> stale, FindStaleHistories(of_agent));
      for (const StaleHistory& each : stale) {
        IGLOO_ASSIGN(Leftover left, CollectHistory(each, collect));
        all.push_back(std::move(left));
      }
    }
  }
  return all;
}

Result<std::vector<Leftover>> FindInterruptedBoxes(const StateStore& store) {
  IGLOO_ASSIGN(const UniqueFd lock, LockStore(store));
  std::vector<Leftover> all;
  for (const std::string& each : DirectoriesIn(store.Boxes())) {
    if (!LockPrivateFile(each + "/lock")) continue;
    all.push_back({.kind = "box",
                   .what = each.substr(each.rfind('/') + 1),
                   .why = "igloo was killed before its changes were taken",
                   .bytes = SizeOf(each)});
  }
  for (const std::string& each : DirectoriesIn(store.Making())) {
    all.push_back({.kind = "box",
                   .what = each.substr(each.rfind('/') + 1),
                   .why = "it was never complete, or is not needed any more",
                   .bytes = SizeOf(each)});
  }
  return all;
}

Result<std::vector<Leftover>> CollectKeptHomes(const StateStore& store, Collect collect) {
  IGLOO_ASSIGN(const UniqueFd lock, LockStore(store));
  std::vector<Leftover> all;
  for (const std::string& each : DirectoriesIn(store.Kept())) {
    all.push_back({.kind = "home",
                   .what = each,
                   .why = "its box changed more than could be proposed",
                   .bytes = SizeOf(each)});
    if (collect == Collect::kRemove) IGLOO_TRY(RemoveTree(each));
  }
  return all;
}

Result<std::vector<Leftover>> CollectChanges(Collect collect) {
  IGLOO_ASSIGN(const auto unused, service::changes::FindUnused());
  std::vector<Leftover> all;
  for (const service::changes::Unused& each : unused) {
    all.push_back({.kind = "changes",
                   .what = each.name,
                   .why = each.complete ? "its box was killed and had changed nothing"
                                        : "igloo was killed before it was complete",
                   .bytes = SizeOf(each.place)});
    if (collect == Collect::kRemove) IGLOO_TRY(service::changes::RemoveUnused(each));
  }
  return all;
}

Result<std::vector<Leftover>> CollectGrants(const std::string& directory, Collect collect) {
  std::vector<Leftover> all;
  for (const std::string& each : DirectoriesIn(directory)) {
    if (!LockPrivateFile(each + "/lock")) continue;
    all.push_back({.kind = "grants",
                   .what = each.substr(each.rfind('/') + 1),
                   .why = "its box was killed",
                   .bytes = SizeOf(each)});
    if (collect == Collect::kRemove) IGLOO_TRY(RemoveTree(each));
  }
  return all;
}

}  // namespace igloo::agent
