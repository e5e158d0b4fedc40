#pragma once

#include <map>
#include <string>

#include "environment/environment.h"
#include "language/conveniences.h"

namespace igloo::environment {

using language::Conveniences;

/// Those that code in an environment has; null: none.
const Conveniences* ConveniencesOf(const Environment& environment);

/// Where programs put what they display: each part is a file with a line that says its type.
inline constexpr const char* kDisplayParent = "/tmp";
inline constexpr const char* kDisplayDirectory = ".igloo-display";

/// The conveniences' variables among those that a program gets.
void AddVariables(const Conveniences& conveniences, std::map<std::string, std::string>& variables);

}  // namespace igloo::environment
