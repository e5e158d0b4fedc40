#include "cli/args.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace igloo::cli {
namespace {

Result<const Flag*> FindFlag(const Command& command, std::string_view name) {
  for (const Flag& flag : command.flags) {
    if (flag.name == name) return &flag;
  }
  std::vector<std::string_view> names;
  for (const Flag& flag : command.flags) names.push_back(flag.name);
  const std::string nearest = Nearest(name, names.data(), names.size());
  return Fail(Errc::kInvalidArgument,
              fmt::format("'igloo {}' has no option '{}'", command.name, Printable(name)),
              nearest.empty() ? fmt::format("see 'igloo {} --help'", command.name)
                              : fmt::format("did you mean '{}'?", nearest));
}

std::string FlagLine(std::string_view name, std::string_view value, std::string_view description) {
  const std::string left = value.starts_with('[')
                               ? fmt::format("{}[={}", name, value.substr(1))
                               : fmt::format("{}{}{}", name, value.empty() ? "" : " ", value);
  return fmt::format("  {:<24} {}\n", left, description);
}

}  // namespace

std::optional<std::string> ParsedArgs::Get(std::string_view name) const {
  const auto found = flags.find(std::string(name));
  if (found == flags.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> ParsedArgs::All(std::string_view name) const {
  const auto found = lists.find(std::string(name));
  return found == lists.end() ? std::vector<std::string>() : found->second;
}

Result<ParsedArgs> ParseArgs(const Command& command, std::span<const std::string> words) {
  ParsedArgs parsed;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") {
      parsed.rest.emplace(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (word == "-h" || word == "--help") {
      parsed.flags["--help"] = "";
      continue;
    }
    if (!word.starts_with("--")) {
      if (word.size() > 1 && word[0] == '-') {
        IGLOO_TRY(FindFlag(command, word));
      }
      parsed.words.emplace_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    IGLOO_ASSIGN(const Flag* flag, FindFlag(command, name));
    std::string value;
    if (flag->value.empty()) {
      if (equals != std::string_view::npos) {
        return Fail(Errc::kInvalidArgument, fmt::format("'{}' takes no value", name));
      }
    } else if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (!flag->needs_value()) {
      value.clear();
    } else if (i + 1 < words.size() && words[i + 1] != "--") {
      value = words[++i];
    } else {
      return Fail(Errc::kInvalidArgument, fmt::format("'{}' needs a value", name),
                  fmt::format("write {} {}", name, flag->value));
    }
    if (flag->times == Times::kOften) {
      parsed.lists[std::string(name)].push_back(std::move(value));
    } else if (!parsed.flags.emplace(std::string(name), std::move(value)).second) {
      return Fail(Errc::kInvalidArgument, fmt::format("'{}' is given twice", name));
    }
  }
  return parsed;
}

std::vector<std::string> WordsOf(const Command& command, const ParsedArgs& args) {
  std::vector<std::string> words = args.words;
  for (const Flag& flag : command.flags) {
    const std::string name(flag.name);
    for (const std::string& value : args.All(name)) words.push_back(name + "=" + value);
    const auto value = args.Get(name);
    if (value) words.push_back(flag.value.empty() ? name : name + "=" + *value);
  }
  if (args.rest) {
    words.emplace_back("--");
    words.insert(words.end(), args.rest->begin(), args.rest->end());
  }
  return words;
}

Result<std::string_view> TakeWord(const Command& command, const ParsedArgs& args) {
  std::vector<std::string_view> names;
  std::string known;
  for (const Word& word : command.words) {
    if (!args.words.empty() && args.words[0] == word.name) return word.name;
    names.push_back(word.name);
    known += fmt::format("{}'igloo {} {}'", known.empty() ? "" : ", ", command.name, word.name);
  }
  if (args.words.empty()) {
    return Fail(Errc::kInvalidArgument, fmt::format("'igloo {}' needs a word", command.name),
                "write " + known);
  }
  const std::string nearest = Nearest(args.words[0], names.data(), names.size());
  return Fail(Errc::kInvalidArgument,
              fmt::format("'igloo {}' does not know '{}'", command.name, Printable(args.words[0])),
              nearest.empty() ? "write " + known : fmt::format("did you mean '{}'?", nearest));
}

std::string HelpFor(const Command& command) {
  std::string out = fmt::format("igloo {} - {}\n\nUsage: igloo {} {}\n", command.name,
                                command.summary, command.name, command.usage);
  if (!command.words.empty()) out += "\nWords:\n";
  for (const Word& word : command.words) out += FlagLine(word.name, "", word.description);
  out += "\nOptions:\n";
  for (const Flag& flag : command.flags) out += FlagLine(flag.name, flag.value, flag.description);
  out += FlagLine("--help", "", "show this");
  if (!command.details.empty()) out += fmt::format("\n{}", command.details);
  return out;
}

std::string Overview(std::span<const Command* const> commands) {
  std::string out =
      "igloo - run code that language models write behind walls\n\nUsage: igloo COMMAND ...\n\n"
      "Commands:\n";
  for (const Command* command : commands) {
    out += fmt::format("  {:<10} {}\n", command->name, command->summary);
  }
  out +=
      "\nTry:\n  igloo run --env python 'print(6 * 7)'\n  igloo doctor\n  igloo COMMAND --help\n";
  return out;
}

}  // namespace igloo::cli
