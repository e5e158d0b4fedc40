#include "environment/facts.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/file.h"
#include "base/open_beneath.h"
#include "base/unique_fd.h"

namespace igloo::environment {
namespace {

/// mountinfo writes blanks, newlines and backslashes as three octal digits.
std::string Unescape(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool octal = text[i] == '\\' && i + 3 < text.size();
    out += octal ? static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8)) : text[i];
    if (octal) i += 3;
  }
  return out;
}

/// Calls `look` with every mount point of this process, until it returns false.
void ForEachMount(const std::function<bool(std::string)>& look) {
  const auto table = ReadFile("/proc/self/mountinfo", 64U << 20);
  if (!table) return;
  // "36 35 98:0 /root /mount/point ..."
  for (std::string_view rest = *table; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    for (int skipped = 0; skipped < 4; ++skipped) {
      line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
    }
    if (!look(Unescape(std::string(line.substr(0, line.find(' ')))))) return;
  }
}

/// Marks the directories in which something is mounted.
void FindMounts(sandbox::HostFacts& facts) {
  ForEachMount([&](std::string point) {
    while (point.size() > 1) {
      point.resize(point.rfind('/'));
      const auto fact = facts.find(point.empty() ? "/" : point);
      if (fact != facts.end() && fact->second) fact->second->mounts_below = true;
    }
    return true;
  });
}

}  // namespace

sandbox::HostFacts GatherFacts(const std::vector<std::string>& paths) {
  sandbox::HostFacts facts;
  for (const std::string& path : paths) {
    struct stat info{};
    const UniqueFd direct = OpenWithoutLinks(path);
    const bool there =
        direct ? ::fstat(direct.get(), &info) == 0 : ::stat(path.c_str(), &info) == 0;
    if (there) {
      facts[path] = sandbox::PathFact{
          .device = info.st_dev,
          .inode = info.st_ino,
          .type = info.st_mode & S_IFMT,
          .uid = info.st_uid,
          .gid = info.st_gid,
          .size = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0,
          .behind_link = !direct};
    } else {
      facts[path] = std::nullopt;
    }
  }
  FindMounts(facts);
  return facts;
}

std::optional<std::string> MountBelow(const std::string& directory) {
  std::optional<std::string> found;
  ForEachMount([&](std::string point) {
    if (point.size() > directory.size() && point.starts_with(directory) &&
        point[directory.size()] == '/') {
      found = std::move(point);
    }
    return !found;
  });
  return found;
}

}  // namespace igloo::environment
