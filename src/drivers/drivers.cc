#include "drivers/drivers.h"

#include <algorithm>
#include <array>

#include "driver_texts.h"

namespace igloo::drivers {
namespace {

constexpr std::array kDrivers = {
    Driver{.interpreter = "bash", .file = "driver.sh", .text = k_driver_sh},
    Driver{.interpreter = "node", .file = "driver.js", .text = k_driver_js},
    Driver{.interpreter = "python", .file = "driver.py", .text = k_driver_py},
};

}  // namespace

const Driver* FindDriver(std::string_view interpreter) {
  const auto* found = std::ranges::find(kDrivers, interpreter, &Driver::interpreter);
  return found == kDrivers.end() ? nullptr : found;
}

}  // namespace igloo::drivers
