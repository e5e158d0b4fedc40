#include "sandbox/entry.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/overloaded.h"
#include "sandbox/path.h"

namespace igloo::sandbox {
namespace {

/// SECURITY: the launcher trusts what it finds at these two, with or without permission to cover.
Result<void> CheckNotReserved(const std::string& target) {
  for (const char* reserved : {"/proc", "/.igloo"}) {
    if (!IsWithin(target, reserved)) continue;
    return Fail(Errc::kInvalidArgument,
                "'" + target + "' lies in '" + reserved + "', which igloo makes itself",
                "choose another place inside the sandbox");
  }
  return {};
}

}  // namespace

std::string TargetOf(const Entry& entry) {
  return std::visit(Overloaded{
                        [](const HostTree& e) { return e.target; },
                        [](const OverlayTree& e) { return e.target; },
                        [](const MemoryTree& e) { return e.target; },
                        [](const Link& e) { return e.path; },
                        [](const TextFile& e) { return e.path; },
                        [](const NamedPipe& e) { return e.path; },
                        [](const EmptyDirectory& e) { return e.path; },
                        [](const DeviceNode& e) { return "/dev/" + e.name; },
                        [](const HostNode& e) { return e.target; },
                    },
                    entry);
}

Covering CoveringOf(const Entry& entry) {
  return std::visit(Overloaded{
                        [](const HostTree& e) { return e.covering; },
                        [](const OverlayTree& e) { return e.covering; },
                        [](const MemoryTree& e) { return e.covering; },
                        [](const auto&) { return Covering::kForbidden; },
                    },
                    entry);
}

bool IsMount(const Entry& entry) {
  return std::holds_alternative<HostTree>(entry) || std::holds_alternative<OverlayTree>(entry) ||
         std::holds_alternative<MemoryTree>(entry) || std::holds_alternative<DeviceNode>(entry) ||
         std::holds_alternative<HostNode>(entry);
}

Result<std::vector<const Entry*>> Sorted(const std::vector<Entry>& entries) {
  std::map<std::ptrdiff_t, std::vector<const Entry*>> by_depth;
  for (const Entry& entry : entries) {
    const std::string target = TargetOf(entry);
    IGLOO_TRY(CheckTarget(target));
    IGLOO_TRY(CheckNotReserved(target));
    by_depth[std::ranges::count(target, '/')].push_back(&entry);
  }
  std::vector<const Entry*> sorted;
  sorted.reserve(entries.size());
  for (const auto& [depth, level] : by_depth) {
    sorted.insert(sorted.end(), level.begin(), level.end());
  }
  return sorted;
}

Result<step::Bind> KeptChanges(const OverlayTree& tree, const PathFact& changes) {
  if (tree.access == Access::kReadOnly) {
    return Fail(Errc::kInvalidArgument, "'" + tree.target + "' is read-only and has no changes",
                "leave out the directory that is to keep them");
  }
  if (changes.type != S_IFDIR) {
    return Fail(Errc::kInvalidArgument, "'" + tree.changes + "' is not a directory",
                "only a directory can keep changes");
  }
  return step::Bind{.source = tree.changes,
                    .target = kChangesPlace,
                    .access = Access::kReadWrite,
                    .fact = changes,
                    .map_owner = true};
}

std::vector<std::string> SourcesOf(const Policy& policy) {
  std::vector<std::string> sources;
  std::string within;
  for (const auto* entries : {&policy.environment, &policy.run}) {
    for (const Entry& entry : *entries) {
      if (const auto* tree = std::get_if<HostTree>(&entry)) {
        sources.push_back(tree->source);
        // Hundreds of trees lie in the same directory.
        if (!tree->within.empty() && tree->within != within) {
          sources.push_back(within = tree->within);
        }
      }
      if (const auto* tree = std::get_if<OverlayTree>(&entry)) {
        sources.push_back(tree->source);
        if (!tree->changes.empty()) sources.push_back(tree->changes);
      }
      if (const auto* node = std::get_if<DeviceNode>(&entry)) {
        sources.push_back("/dev/" + node->name);
      }
      if (const auto* node = std::get_if<HostNode>(&entry)) sources.push_back(node->source);
    }
  }
  return sources;
}

}  // namespace igloo::sandbox
