#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace igloo::cli {

class Console;

/// What a value can be, for completion in shells.
enum class Values { kAny, kFile, kDirectory, kEnvironment, kChangeSet, kChoices };

/// How often an option can be given.
enum class Times { kOnce, kOften };

/// One option of a command. The same row parses, prints help, completes and stands in the manual.
/// In the order in which rows are written; there are few enough of them.
struct Flag {             // NOLINT(clang-analyzer-optin.performance.Padding)
  std::string_view name;  ///< "--timeout"
  /// "SECONDS", or empty for a switch; "[FILE]" can be left out, and stands behind "=" alone.
  std::string_view value;
  std::string_view description;
  Values values = Values::kAny;
  std::string_view choices = {};  ///< of kChoices, with spaces between
  Times times = Times::kOnce;

  constexpr bool may_have_value() const { return value.starts_with('['); }
  constexpr bool needs_value() const { return !value.empty() && !may_have_value(); }
  /// "SECONDS" of either.
  constexpr std::string_view value_name() const {
    return may_have_value() ? value.substr(1, value.size() - 2) : value;
  }
};

/// A first word that a command understands ("list"), and what may follow it.
struct Word {
  std::string_view name;
  std::string_view description;
  Values values = Values::kAny;
  std::string_view choices = {};  ///< of kChoices, with spaces between
};

/// What a command line said.
struct ParsedArgs {
  std::map<std::string, std::string> flags = {};
  std::map<std::string, std::vector<std::string>> lists = {};  ///< of options with Times::kOften
  std::vector<std::string> words = {};                ///< what is neither option nor behind '--'
  std::optional<std::vector<std::string>> rest = {};  ///< behind '--', when there was one

  bool Has(std::string_view name) const { return flags.contains(std::string(name)); }
  std::optional<std::string> Get(std::string_view name) const;
  /// All values of an option that can be given often, in their order.
  std::vector<std::string> All(std::string_view name) const;
};

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view usage;  ///< behind "igloo NAME"
  std::span<const Flag> flags;
  std::span<const Word> words;  ///< empty: words are free, such as code
  std::string_view details;     ///< shown under the options by --help
  Result<int> (*run)(const ParsedArgs& args, Console& console);
  Values first_word = Values::kAny;  ///< of a command whose words are free
};

/// Parses the words behind the command's name. Accepts "--flag value" and "--flag=value".
Result<ParsedArgs> ParseArgs(const Command& command, std::span<const std::string> words);

/// Words that ParseArgs reads as `args`, for whoever starts the same command once more.
std::vector<std::string> WordsOf(const Command& command, const ParsedArgs& args);

/// The word that a command with words of its own was given; says what there is otherwise.
Result<std::string_view> TakeWord(const Command& command, const ParsedArgs& args);

std::string HelpFor(const Command& command);
std::string Overview(std::span<const Command* const> commands);

}  // namespace igloo::cli
