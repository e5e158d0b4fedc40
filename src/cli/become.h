#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace igloo::cli {

/// Whether these words ask for a prompt, and a person is there.
bool NeedsEditor(std::span<const std::string> words);

/// Goes on as igloo-repl with the same words; returns only when that cannot be.
Error BecomeEditing(std::string_view program, std::span<const std::string> words);

}  // namespace igloo::cli
