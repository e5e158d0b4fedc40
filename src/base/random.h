#pragma once

#include <string>

namespace igloo {

/// 128 random bits as 32 digits.
std::string RandomName();

}  // namespace igloo
