#pragma once

#include <string_view>

#include "cli/args.h"
#include "cli/console.h"

namespace igloo::cli {

/// What `igloo agent WORD ...` does with boxes that run: enter, attach, pause, resume, stop, gc.
/// Null: the word is none of these.
using BoxVerb = Result<int> (*)(const ParsedArgs& args, Console& console);
BoxVerb FindBoxVerb(std::string_view word);

}  // namespace igloo::cli
