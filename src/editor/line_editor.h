#pragma once

#include "editor/line_reader.h"

namespace igloo::editor {

/// Lines that can be edited, that come back with the arrow keys, and that Tab completes. One at a
/// time in a process.
MakeLineReader EditedLines();

/// The longest text that all of them begin with.
std::string CommonBeginning(const std::vector<std::string>& words);

}  // namespace igloo::editor
