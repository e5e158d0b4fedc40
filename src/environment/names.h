#pragma once

#include <string_view>

namespace igloo::environment {

/// Whether an environment can be called so: 1 to 64 letters, digits, '.', '_' and '-', as they
/// stand in a command line without quotes. Neither '.' nor '-' comes first. Pure.
bool IsName(std::string_view text);
/// The same for people, as a hint.
inline constexpr std::string_view kNameRule =
    "names have up to 64 letters, digits, '.', '_' and '-', and neither '.' nor '-' comes first";

/// Whether a variable can be called so: letters, digits and '_', at most 256, no digit first. Pure.
bool IsVariableName(std::string_view text);

}  // namespace igloo::environment
