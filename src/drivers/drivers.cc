#include "drivers/drivers.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "driver_texts.h"

namespace igloo::drivers {
namespace {

constexpr std::array kDrivers = {
    Driver{.interpreter = "bash", .file = "driver.sh", .text = k_driver_sh},
    Driver{.interpreter = "command",
           .file = "driver.command.sh",
           .text = k_driver_command_sh,
           .once = false},
    Driver{.interpreter = "node", .file = "driver.js", .text = k_driver_js},
    Driver{.interpreter = "python", .file = "driver.py", .text = k_driver_py, .checkpoint = true},
};

/// Whether bash may be told to stop at variables that are not set, `set -u` in any spelling or
/// ${x?}, or to trace what it does, `set -x`.
bool MayRefuseUnsetOrTrace(std::string_view code) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto part_of_name = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  if (code.contains("nounset") || code.contains("xtrace")) return true;
  for (std::size_t at = 0; (at = code.find("set", at)) != code.npos; ++at) {
    std::string_view words = code.substr(at + 3, code.find_first_of(";&|\n", at) - at - 3);
    if (at > 0 && part_of_name(code[at - 1])) continue;
    if (!words.starts_with(' ') && !words.starts_with('\t')) continue;
    if (words.find_first_of("$`") != words.npos) return true;
    for (std::size_t dash = 0; (dash = words.find('-', dash)) != words.npos; ++dash) {
      const auto* end = std::ranges::find_if_not(words.substr(dash + 1), letter);
      const std::string_view letters(words.data() + dash + 1, end);
      if (letters.find_first_of("ux") != letters.npos) return true;
    }
  }
  for (std::size_t at = 0; (at = code.find("${", at)) != code.npos; ++at) {
    const std::string_view rest = code.substr(at + 2);
    const auto* end = std::ranges::find_if_not(rest, part_of_name);
    if (end == rest.begin()) continue;
    if (end != rest.end() && *end == ':') ++end;
    if (end != rest.end() && *end == '?') return true;
  }
  return false;
}

}  // namespace

std::string_view WayOf(const Driver& driver, std::string_view code) {
  if (driver.interpreter != "bash") return {};
  // Four things only a script does right, which costs another start: a variable that must be set
  // and is not would end the shell that sources it with 127, `return` outside of functions would
  // leave what is sourced, each line of a trace would begin with one more sign, and the command
  // that tells the end may be disabled.
  constexpr std::size_t kMost = 50'000;
  const bool returns = code.starts_with("return") || code.contains("\nreturn");
  const bool disables = code.contains("enable -");
  if (code.size() > kMost || returns || disables || MayRefuseUnsetOrTrace(code)) return {};
  return code.contains("trap") ? "exits" : "plain";
}

std::vector<std::string> DriveByCommand(std::string_view file_name,
                                        std::span<const std::string> command) {
  std::vector<std::string> argv = {"/bin/sh", "-c", std::string(FindDriver("command")->text),
                                   "igloo", std::string(file_name)};
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

std::string_view ShellSnapshot() { return k_snapshot_sh; }

const Driver* FindDriver(std::string_view interpreter) {
  const auto* found = std::ranges::find(kDrivers, interpreter, &Driver::interpreter);
  return found == kDrivers.end() ? nullptr : found;
}

}  // namespace igloo::drivers
