#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace igloo::environment {

/// A configuration of git without passwords and tokens: addresses lose what stands before their
/// '@', and lines that hold nothing else go. Nothing: there are none in it, or it is no such file.
std::optional<std::string> WithoutCredentials(std::string_view config);

}  // namespace igloo::environment
