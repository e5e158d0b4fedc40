#include "bench/layout.h"

#include <charconv>
#include <filesystem>
#include <string>

namespace igloo::bench {
namespace {

/// Those that this process may use.
std::vector<int> AllowedCores() {
  std::vector<int> cores;
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  return cores;
}

std::vector<pid_t> ThreadsOf(const std::string& process) {
  std::vector<pid_t> threads;
  std::error_code ended;
  for (const auto& each :
       std::filesystem::directory_iterator("/proc/" + process + "/task", ended)) {
    const std::string name = each.path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    threads.push_back(thread);
  }
  return threads;
}

}  // namespace

bool Layout::Has(Cores cores) { return cores == Cores::kOne || AllowedCores().size() >= 2; }

Layout::Layout(Cores cores, const std::vector<pid_t>& others) {
  const std::vector<int> allowed = AllowedCores();
  if (allowed.empty()) return;
  for (const pid_t thread : ThreadsOf("self")) Move(thread, allowed.front());
  for (const pid_t process : others) {
    for (const pid_t thread : ThreadsOf(std::to_string(process))) {
      Move(thread, cores == Cores::kOne ? allowed.front() : allowed.back());
    }
  }
}

void Layout::Move(pid_t thread, int core) {
  cpu_set_t before;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  if (::sched_getaffinity(thread, sizeof before, &before) != 0) return;
  if (::sched_setaffinity(thread, sizeof only, &only) == 0) before_.emplace_back(thread, before);
}

Layout::~Layout() {
  for (const auto& [thread, before] : before_) {
    ::sched_setaffinity(thread, sizeof before, &before);
  }
}

}  // namespace igloo::bench
