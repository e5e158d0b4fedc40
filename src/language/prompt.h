#pragma once

#include <string>
#include <string_view>

namespace igloo::language {

/// What says that lines can be run, besides closed quotes.
enum class Whole {
  kEmptyLine,    ///< nothing else: whole programs come, with an empty line at their end
  kBrackets,     ///< all are closed
  kIndentation,  ///< and a block ends with an empty line
  kShellWords,   ///< those of the shell ("fi", "done"), and not the brackets
  kEnds,         ///< and each block has its "end"
};

/// What a prompt has to know of a language.
struct Prompt {
  std::string_view history = "other";  ///< the end of the name of the file that keeps lines
  Whole whole = Whole::kEmptyLine;
  std::string_view comment = "#";      ///< begins one
  bool comment_within_words = false;   ///< also behind a letter
  bool block_comments = false;         ///< between "/*" and "*/"
  std::string_view quotes = "'\"";     ///< each begins and ends a text
  std::string_view long_quotes = {};   ///< those of them whose texts may have several lines
  bool plain_single_quotes = false;    ///< a backslash means nothing between them
  bool triple_quotes = false;          ///< three of them hold several lines
  std::string_view name_letters = {};  ///< in names, besides letters, digits and "_"
  /// Code that prints names which begin like {word}, one a line, and changes nothing. {owner} is
  /// what stands before its last dot, or else `world`, and {before} that and the dot. A brace that
  /// is the code's own stands there twice. Empty: there is none.
  std::string_view completion = {};
  std::string_view world = {};
};

/// Whether `text`, lines with their ends, can be run, or more has to come first. A guess, as every
/// prompt makes it: brackets, quotes, and blocks.
bool IsWhole(const Prompt& prompt, std::string_view text);

/// What is being typed at the end of a line: "os.pa".
std::string_view WordAtEnd(const Prompt& prompt, std::string_view line);

/// `completion` for a word; empty when there is none.
std::string CompletionCode(const Prompt& prompt, std::string_view word);

}  // namespace igloo::language
