#include "environment/facts.h"

#include <sys/stat.h>

#include <sstream>

#include "base/file.h"

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

}  // namespace

sandbox::HostFacts GatherFacts(const std::vector<std::string>& paths) {
  sandbox::HostFacts facts;
  for (const std::string& path : paths) {
    struct stat info{};
    if (::stat(path.c_str(), &info) == 0) {
      facts[path] = sandbox::PathFact{.device = info.st_dev,
                                      .inode = info.st_ino,
                                      .type = info.st_mode & S_IFMT,
                                      .uid = info.st_uid,
                                      .gid = info.st_gid};
    } else {
      facts[path] = std::nullopt;
    }
  }
  return facts;
}

std::optional<std::string> MountBelow(const std::string& directory) {
  const auto table = ReadFile("/proc/self/mountinfo", 64U << 20);
  if (!table) return std::nullopt;
  std::istringstream lines(*table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skipped;
    std::string escaped;
    words >> skipped >> skipped >> skipped >> skipped >> escaped;
    std::string point = Unescape(escaped);
    if (point.size() > directory.size() && point.starts_with(directory) &&
        point[directory.size()] == '/') {
      return point;
    }
  }
  return std::nullopt;
}

}  // namespace igloo::environment
