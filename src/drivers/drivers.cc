#include "drivers/drivers.h"

#include <algorithm>
#include <array>

#include "driver_texts.h"

namespace igloo::drivers {
namespace {

constexpr std::array kDrivers = {
    Driver{.interpreter = "bash", .file = "bash", .text = k_driver_sh},
    Driver{.interpreter = "command", .file = "driver.command.sh", .text = k_driver_command_sh},
    Driver{.interpreter = "node", .file = "driver.js", .text = k_driver_js, .program = "main.js"},
    Driver{.interpreter = "python",
           .file = "driver.py",
           .text = k_driver_py,
           .program = "main.py",
           .checkpoint = true},
};

}  // namespace

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
