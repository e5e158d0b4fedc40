#include "prove/marked.h"

#include <signal.h>

#include <charconv>
#include <filesystem>
#include <vector>

#include "base/file.h"

namespace igloo::prove {
namespace {

constexpr std::size_t kMostText = 1U << 20;

std::vector<pid_t> ProcessesWith(const std::string& marker) {
  std::vector<pid_t> pids;
  std::error_code error;
  for (std::filesystem::directory_iterator each("/proc", error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    pid_t pid = 0;
    const auto [rest, trouble] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (trouble != std::errc() || rest != name.data() + name.size()) continue;
    // A process may be gone by now.
    const auto line = ReadFile("/proc/" + name + "/cmdline", kMostText);
    if (line && line->find('\0' + marker + '\0') != std::string::npos) pids.push_back(pid);
  }
  return pids;
}

}  // namespace

int CountMarked(const std::string& marker) {
  return static_cast<int>(ProcessesWith(marker).size());
}

void EndMarked(const std::string& marker) {
  for (const pid_t pid : ProcessesWith(marker)) ::kill(pid, SIGKILL);
}

}  // namespace igloo::prove
