#pragma once

#include <string>
#include <string_view>

namespace igloo::cli {

/// What a prompt has to know of a language; of others, whole programs come, with an empty line at
/// their end.
enum class Language { kPython, kNode, kShell, kOther };

/// By the name of an interpreter that sessions have.
Language LanguageOf(std::string_view interpreter);

/// Whether `text`, lines with their ends, can be run, or more has to come first. A guess, as every
/// prompt makes it: brackets, quotes, and blocks, which an empty line ends in Python.
bool IsWhole(Language language, std::string_view text);

/// What is being typed at the end of a line: "os.pa".
std::string_view WordAtEnd(Language language, std::string_view line);

/// Code that prints names which begin like that, one a line, and changes nothing; empty when there
/// is none.
std::string CompletionCode(Language language, std::string_view word);

}  // namespace igloo::cli
