#pragma once

#include <string>

namespace igloo::prove {

/// How many processes of the host have `marker` as a word of their command line.
int CountMarked(const std::string& marker);
/// Ends exactly those: what a control left behind.
void EndMarked(const std::string& marker);

}  // namespace igloo::prove
