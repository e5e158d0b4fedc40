#pragma once

#include <string>

#include "agent/box.h"

namespace igloo::agent::claudebox {

/// SANDBOX.md as claudebox writes it at every start.
std::string NoticeText(const Box& box);

}  // namespace igloo::agent::claudebox
