#include <algorithm>
#include <set>

#include "agent/box.h"
#include "agent/notice.h"
#include "sandbox/entry.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

/// What an agent's home and /tmp hold, in memory.
constexpr environment::Room kRoom = {.disk_bytes = 1ULL << 30, .disk_files = 262'144};
constexpr std::uint64_t kOpenFiles = 16'384;

/// Each directory with files of igloo's is a read-only one in memory.
void AddWrittenFiles(const Box& box, sandbox::Policy& policy) {
  std::vector<File> files = box.files;
  files.push_back({std::string(kNoticePath), NoticeText(box)});
  std::set<std::string> directories;
  for (File& each : files) {
    const std::string directory = each.path.substr(0, each.path.rfind('/'));
    if (directories.insert(directory).second) {
      policy.run.emplace_back(sandbox::MemoryTree{.target = directory,
                                                  .capacity = {.bytes = 1U << 20},
                                                  .access = sandbox::Access::kReadOnly});
    }
    policy.run.emplace_back(
        sandbox::TextFile{.path = std::move(each.path), .content = std::move(each.text)});
  }
}

}  // namespace

Result<sandbox::Policy> PolicyForBox(const Box& box, const environment::Environment& environment,
                                     environment::RunRequest request) {
  environment::Environment root = environment;
  root.room = kRoom;
  root.limits.time_ms = 0;
  root.limits.cpu_seconds = 0;
  root.limits.memory_bytes = box.memory_bytes;
  root.limits.processes = box.processes;
  root.limits.millicpus = box.millicpus;
  root.limits.open_files = kOpenFiles;
  root.limits.file_bytes = 0;
  request.what = environment::Program{box.argv};
  request.project =
      environment::Project{.path = box.project,
                           .mode = box.changes.empty() ? environment::ProjectMode::kReadWrite
                                                       : environment::ProjectMode::kOverlay,
                           .mount_point = box.project,
                           .hidden = box.hidden,
                           .changes = box.changes,
                           .repository = box.repository};
  for (const Variable& each : box.variables) {
    // What the network sets (proxies, placeholders) is there already and stays.
    request.variables.emplace(each.name, each.value);
  }
  IGLOO_ASSIGN(sandbox::Policy policy, environment::PolicyForRun(root, request));
  policy.cwd = box.project;
  policy.variables["PWD"] = box.project;
  const bool own_home = !box.home_source.empty();
  if (own_home) {
    policy.run.emplace_back(sandbox::HostTree{.source = box.home_source,
                                              .target = box.home,
                                              .access = sandbox::Access::kReadWrite,
                                              .map_owner = true,
                                              .covering = sandbox::Covering::kIntended});
  }
  // Memory is not shown where a directory of the host's takes its place.
  std::erase_if(policy.run, [&](const sandbox::Entry& entry) {
    const bool memory = std::holds_alternative<sandbox::MemoryTree>(entry);
    return memory && std::ranges::any_of(box.own_trees, [&](const OwnTree& each) {
             return each.target == sandbox::TargetOf(entry);
           });
  });
  // What is no mount and lies in a directory of igloo's on the host was put there (FillHome).
  const auto is_there = [&](const std::string& path) {
    return (own_home && sandbox::IsWithin(path, box.home)) ||
           std::ranges::any_of(box.own_trees, [&](const OwnTree& each) {
             return sandbox::IsWithin(path, each.target);
           });
  };
  for (const Mount& mount : box.mounts) {
    const bool made = !sandbox::IsMount(mount.entry) && is_there(sandbox::TargetOf(mount.entry));
    if (!made) policy.run.push_back(mount.entry);
  }
  for (const ProgramLink& link : box.program.links) {
    if (is_there(link.path)) continue;
    policy.run.emplace_back(sandbox::Link{.path = link.path, .points_to = link.points_to});
  }
  const std::string git_config = box.home + "/.gitconfig";
  const bool has_own = std::ranges::any_of(
      box.mounts, [&](const Mount& each) { return sandbox::TargetOf(each.entry) == git_config; });
  if (!own_home && !has_own) {
    policy.run.emplace_back(
        sandbox::TextFile{.path = git_config,
                          .content = GitConfigText(box.identity) + box.git_settings,
                          .mode = 0644});
  }
  AddWrittenFiles(box, policy);
  return policy;
}

}  // namespace igloo::agent
