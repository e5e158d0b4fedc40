#include "cli/doctor/watched.h"

#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "cli/run/execute.h"

namespace igloo::cli {
namespace {

constexpr std::size_t kMaxProcFile = 1U << 20;

bool CarriesMarker(const std::filesystem::path& process, const std::string& marker) {
  const auto words = ReadFile(process / "cmdline", kMaxProcFile);
  if (!words) return false;  // gone, or nobody's to look at
  std::istringstream text(*words);
  for (std::string word; std::getline(text, word, '\0');) {
    if (word == marker) return true;
  }
  return false;
}

/// The map of the process that carries `marker`, or empty.
std::string FindUidMap(const std::string& marker) {
  std::error_code error;
  for (std::filesystem::directory_iterator each("/proc", error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!CarriesMarker(each->path(), marker)) continue;
    std::istringstream words(ReadFile(each->path() / "uid_map", kMaxProcFile).value_or(""));
    std::string map;
    for (std::string word; words >> word;) map += (map.empty() ? "" : " ") + word;
    return map;
  }
  return "";
}

}  // namespace

Result<Watched> ExecuteWatched(const sandbox::Plan& plan, backend::Backend& backend,
                               const std::string& marker) {
  IGLOO_ASSIGN(FdPair input, MakePipe());
  std::string map;
  std::jthread observer([&map, &marker,
                         hold = std::move(input.second)](const std::stop_token& ended) mutable {
    using namespace std::chrono_literals;
    // The code has its own time limit; this one is for a /proc that does not show it.
    const auto patience = std::chrono::steady_clock::now() + 25s;
    while (map.empty() && !ended.stop_requested() && std::chrono::steady_clock::now() < patience) {
      std::this_thread::sleep_for(2ms);
      map = FindUidMap(marker);
    }
    hold.Reset();  // seen: it may end
  });
  auto result = Execute(plan, backend, {.input = std::move(input.first)}, Signals::kDefault);
  observer.request_stop();
  observer.join();
  if (!result) return std::unexpected(std::move(result).error());
  return Watched{.result = *std::move(result), .uid_map = std::move(map)};
}

}  // namespace igloo::cli
