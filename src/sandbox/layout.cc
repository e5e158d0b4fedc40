#include "sandbox/layout.h"

namespace igloo::sandbox {
namespace {

/// "/a/b" -> "/a" -> "".
void GoUp(std::string& path) { path.resize(path.rfind('/')); }

/// Erases everything below `directory`, but not itself. Sorted by bytes, all of it stands together:
/// '0' is the character behind '/'.
template <class Container>
void EraseBelow(Container& paths, const std::string& directory) {
  paths.erase(paths.lower_bound(directory + "/"), paths.lower_bound(directory + "0"));
}

}  // namespace

const Layout::Mount* Layout::HolderOf(std::string path) const {
  for (; !path.empty(); GoUp(path)) {
    if (const auto found = mounts_.find(path); found != mounts_.end()) return &found->second;
  }
  return nullptr;
}

std::optional<Layout::Kind> Layout::KindOf(const std::string& path) const {
  // A mount inside a tree of the host has no name of ours, but it is there all the same.
  if (const auto mount = mounts_.find(path); mount != mounts_.end()) return mount->second.kind;
  if (const auto name = names_.find(path); name != names_.end()) return name->second.kind;
  return std::nullopt;
}

std::string Layout::LeafAbove(std::string path) const {
  for (GoUp(path); !path.empty(); GoUp(path)) {
    const auto kind = KindOf(path);
    if (kind && *kind != Kind::kDirectory) return path;
  }
  return {};
}

bool Layout::IsOfRun(std::string path) const {
  for (; !path.empty(); GoUp(path)) {
    const auto mount = mounts_.find(path);
    if (mount != mounts_.end() && mount->second.part == Part::kRun) return true;
    const auto name = names_.find(path);
    if (name != names_.end() && name->second.maker == Part::kRun) return true;
  }
  return false;
}

std::string Layout::HiddenBy(const std::string& target, bool mount) const {
  if (taken_.contains(target)) return target;
  if (!mount) return {};
  const auto below = taken_.lower_bound(target + "/");
  return below != taken_.end() && below->starts_with(target + "/") ? *below : std::string();
}

void Layout::AddMount(const std::string& target, Mount mount) {
  EraseBelow(names_, target);
  EraseBelow(mounts_, target);
  EraseBelow(taken_, target);
  mounts_.insert_or_assign(target, mount);
}

}  // namespace igloo::sandbox
