#pragma once

#include <string>
#include <vector>

#include "agent/box.h"

namespace igloo::agent {

/// SANDBOX.md: where the agent is, what it can do there, and what to ask its user for.
std::string NoticeText(const Box& box);

}  // namespace igloo::agent
