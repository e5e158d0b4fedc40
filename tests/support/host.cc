#include "support/host.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "base/file.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;

std::vector<pid_t> ProcessIds() {
  std::vector<pid_t> ids;
  DIR* proc = ::opendir("/proc");
  while (const dirent* entry = ::readdir(proc)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) ids.push_back(pid);
  }
  ::closedir(proc);
  return ids;
}

std::string ProcFile(pid_t pid, const char* name) {
  return ReadProc("/proc/" + std::to_string(pid) + "/" + name);
}

std::optional<ProcessInfo> LookAt(pid_t pid) {
  const std::string stat = ProcFile(pid, "stat");
  // The name may hold anything, parentheses too; the last one ends it.
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  ProcessInfo info{.pid = pid, .name = stat.substr(open + 1, close - open - 1)};
  std::istringstream rest(stat.substr(close + 1));
  rest >> info.state >> info.parent;
  return info;
}

bool HasWord(const std::string& command_line, const std::string& word) {
  return ('\0' + command_line + '\0').find('\0' + word + '\0') != std::string::npos;
}

std::string ContentOf(const fs::path& path, const struct stat& info) {
  if (S_ISLNK(info.st_mode)) return fs::read_symlink(path).string();
  return S_ISREG(info.st_mode) ? ReadProc(path.string()) : std::string();
}

}  // namespace

std::vector<ProcessInfo> Processes() {
  std::vector<ProcessInfo> all;
  for (const pid_t pid : ProcessIds()) {
    if (auto info = LookAt(pid)) all.push_back(*std::move(info));
  }
  return all;
}

std::vector<ProcessInfo> ChildrenOf(pid_t pid) {
  std::vector<ProcessInfo> children = Processes();
  std::erase_if(children, [&](const ProcessInfo& each) { return each.parent != pid; });
  return children;
}

std::vector<ProcessInfo> DescendantsOf(pid_t pid) {
  const std::vector<ProcessInfo> all = Processes();
  std::vector<ProcessInfo> found;
  std::vector<pid_t> open = {pid};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    for (const ProcessInfo& each : all) {
      if (each.parent != parent) continue;
      found.push_back(each);
      open.push_back(each.pid);
    }
  }
  return found;
}

bool IsGone(pid_t pid) {
  const auto info = LookAt(pid);
  return !info || info->state == 'Z' || info->state == 'X';
}

std::string UniqueMarker() {
  static std::atomic<int> count = 0;
  return "igloo-marker-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

std::vector<pid_t> FindMarked(const std::string& marker) {
  std::vector<pid_t> found;
  for (const pid_t pid : ProcessIds()) {
    if (!HasWord(ProcFile(pid, "cmdline"), marker)) continue;
    // The igloo that was told to run it has the word in its command line, too.
    if (const auto info = LookAt(pid); info && info->name != "igloo") found.push_back(pid);
  }
  return found;
}

pid_t WaitForMarked(const std::string& marker) {
  std::vector<pid_t> found;
  const bool one = WaitFor([&] {
    found = FindMarked(marker);
    return found.size() == 1;
  });
  return one ? found.front() : 0;
}

std::optional<UidMap> ReadUidMap(pid_t pid) {
  std::istringstream text(ProcFile(pid, "uid_map"));
  UidMap map;
  if (!(text >> map.inside >> map.outside >> map.count)) return std::nullopt;
  std::string more;
  if (text >> more) return std::nullopt;
  return map;
}

pid_t LauncherAbove(pid_t pid, pid_t starter) {
  for (auto info = LookAt(pid); info && info->parent > 1; info = LookAt(info->parent)) {
    if (info->parent == starter) return info->pid;
  }
  return 0;
}

int CountDescriptors(pid_t pid) {
  std::error_code error;
  const fs::directory_iterator open("/proc/" + std::to_string(pid) + "/fd", error);
  if (error) return -1;
  return static_cast<int>(std::distance(begin(open), end(open)));
}

bool MemoryHolds(pid_t pid, const std::string& text) {
  constexpr std::uint64_t kLargest = 1U << 30, kPiece = 4U << 20;
  const std::string all = ProcFile(pid, "maps");
  if (all.empty()) throw std::runtime_error("cannot look into process " + std::to_string(pid));
  std::istringstream maps(all);
  bool any = false;
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> begin >> dash >> end;
    if (end - begin > kLargest) continue;
    std::string bytes;  // the end of the piece before, so that none is cut in two
    for (std::uint64_t at = begin; at < end; at += kPiece) {
      if (bytes.size() > text.size()) bytes.erase(0, bytes.size() - text.size());
      const std::size_t kept = bytes.size(), size = std::min(kPiece, end - at);
      bytes.resize(kept + size, '\0');
      // Not /proc/PID/mem: of a process that is not dumpable it belongs to root outside.
      const iovec here{bytes.data() + kept, size}, there{reinterpret_cast<void*>(at), size};
      any = ::process_vm_readv(pid, &here, 1, &there, 1, 0) > 0 || any;
      if (bytes.find(text) != std::string::npos) return true;
    }
  }
  if (!any) throw std::runtime_error("cannot read the memory of process " + std::to_string(pid));
  return false;
}

std::string ReadProc(const std::string& path) {
  // A process may end between opening and reading; that is no error here.
  return ReadFile(path, std::size_t{64} << 20).value_or("");
}

std::string MountTable() { return ReadProc("/proc/self/mountinfo"); }

std::map<std::string, std::string> SnapshotOf(const std::string& root) {
  std::map<std::string, std::string> snapshot;
  const auto add = [&](const fs::path& path) {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) return;
    std::ostringstream line;
    line << std::oct << info.st_mode << std::dec << ' ' << info.st_uid << ' ' << info.st_size << ' '
         << info.st_mtim.tv_sec << '.' << info.st_mtim.tv_nsec << ' ' << info.st_ctim.tv_sec << '.'
         << info.st_ctim.tv_nsec << ' ' << ContentOf(path, info);
    snapshot[path.string()] = line.str();
  };
  add(root);
  for (const auto& entry : fs::recursive_directory_iterator(root)) add(entry.path());
  return snapshot;
}

}  // namespace igloo::testing
