#pragma once

#include <string>

#include "config/decode.h"

namespace igloo::cli {

/// What a configuration means, in lines for people; variables by name only.
std::string ConfigText(const config::Config& config);

/// All that is wrong with a file, as errors are shown everywhere.
std::string ProblemsText(const config::Decoded& decoded);

/// Both as one JSON document and a newline.
std::string ConfigJson(const config::Decoded& decoded);

}  // namespace igloo::cli
