#pragma once

#include "cli/args.h"

namespace igloo::cli {

/// `igloo mcp` without a word: the server itself, on standard input and output.
Result<int> ServeMcp(const ParsedArgs& args, Console& console);
/// Whoever sets up a client now must know what it will find.
void NoteUntilServed(Console& console);

}  // namespace igloo::cli
