#include "cli/completion.h"

#include <fmt/format.h>

namespace igloo::cli {
namespace {

std::string Replace(std::string_view text, char what, std::string_view with) {
  std::string out;
  for (const char c : text) {
    if (c == what) {
      out += with;
    } else {
      out += c;
    }
  }
  return out;
}

/// Inside single quotes of a POSIX shell.
std::string Quoted(std::string_view text) { return "'" + Replace(text, '\'', "'\\''") + "'"; }

/// Whose names are meant by kEnvironment: what 'igloo env WORD --names' prints. The choices have
/// the word; without one it is every environment that can be used.
std::string_view NamesOf(std::string_view choices) { return choices.empty() ? "list" : choices; }

/// How bash finds the values of a kind; empty: nothing to offer.
std::string BashValues(Values values, std::string_view choices) {
  switch (values) {
    case Values::kAny:
      return "";
    case Values::kFile:
      return "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$current\")";
    case Values::kDirectory:
      return "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$current\")";
    case Values::kEnvironment:
      return fmt::format("_igloo_words \"$(\"$1\" env {} --names 2>/dev/null)\"", NamesOf(choices));
    case Values::kChangeSet:
      return "_igloo_words \"$(\"$1\" changes list --names 2>/dev/null)\"";
    case Values::kChoices:
      return fmt::format("_igloo_words '{}'", choices);
  }
  return "";
}

void BashCases(const Command& command, std::string& out) {
  for (const Flag& flag : command.flags) {
    if (!flag.needs_value()) continue;
    const std::string action = BashValues(flag.values, flag.choices);
    out += fmt::format("    {}:{}) {}return ;;\n", command.name, flag.name,
                       action.empty() ? "" : action + "; ");
  }
  if (command.first_word != Values::kAny) {
    out += fmt::format("    {0}:{0}) {1}; return ;;\n", command.name,
                       BashValues(command.first_word, {}));
  }
  for (const Word& word : command.words) {
    const std::string action = BashValues(word.values, word.choices);
    if (!action.empty()) {
      out += fmt::format("    {}:{}) {}; return ;;\n", command.name, word.name, action);
    }
  }
}

std::string ZshValues(Values values, std::string_view choices) {
  switch (values) {
    case Values::kAny:
      return " ";
    case Values::kFile:
      return "_files";
    case Values::kDirectory:
      return "_directories";
    case Values::kEnvironment:
      return "_igloo_environments";
    case Values::kChangeSet:
      return "_igloo_change_sets";
    case Values::kChoices:
      return fmt::format("({})", choices);
  }
  return " ";
}

/// Inside the brackets of a zsh option.
std::string ZshText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

void ZshCase(const Command& command, std::string& out) {
  out += fmt::format("    {})\n      _arguments", command.name);
  for (const Flag& flag : command.flags) {
    const std::string value =
        flag.value.empty()
            ? ""
            : fmt::format("{}:{}:{}", flag.may_have_value() ? ":" : "", ZshText(flag.value_name()),
                          ZshValues(flag.values, flag.choices));
    const std::string_view joint = flag.value.empty() ? "" : flag.may_have_value() ? "=-" : "=";
    const std::string spec =
        fmt::format("{}{}[{}]{}", flag.name, joint, ZshText(flag.description), value);
    out += " \\\n        " + Quoted(spec);
  }
  out += " \\\n        '--help[show help]'";
  if (command.first_word != Values::kAny) {
    out += fmt::format(" \\\n        '1:name:{}'", ZshValues(command.first_word, {}));
  }
  if (!command.words.empty()) {
    std::string words;
    for (const Word& word : command.words)
      words += (words.empty() ? "" : " ") + std::string(word.name);
    out += fmt::format(" \\\n        '1:word:({})'", words);
  }
  // zsh wants one rule for a place: words that are followed by the same share it.
  std::string second;
  for (const Word& word : command.words) {
    if (word.values == Values::kAny) continue;
    const std::string values = ZshValues(word.values, word.choices);
    if (values == second) continue;
    out += fmt::format(" \\\n        '2:{}:{}'", word.name, values);
    second = values;
  }
  out += "\n      ;;\n";
}

/// One function for all places where an environment stands: it looks which one this is.
void ZshNames(const Command& command, std::string& out) {
  for (const Word& word : command.words) {
    if (word.values != Values::kEnvironment || word.choices.empty()) continue;
    out += fmt::format("    {}:{}) from={} ;;\n", command.name, word.name, word.choices);
  }
}

std::string FishQuoted(std::string_view text) {
  return "'" + Replace(Replace(text, '\\', "\\\\"), '\'', "\\'") + "'";
}

std::string FishValues(Values values, std::string_view choices) {
  switch (values) {
    case Values::kAny:
      return " -x";
    case Values::kFile:
      return " -r -F";
    case Values::kDirectory:
      return " -x -a '(__fish_complete_directories)'";
    case Values::kEnvironment:
      return fmt::format(" -x -a '(igloo env {} --names 2>/dev/null)'", NamesOf(choices));
    case Values::kChangeSet:
      return " -x -a '(igloo changes list --names 2>/dev/null)'";
    case Values::kChoices:
      return fmt::format(" -x -a {}", FishQuoted(choices));
  }
  return "";
}

}  // namespace

std::string BashCompletion(std::span<const Command* const> commands) {
  std::string names, cases, words;
  for (const Command* command : commands) {
    names += std::string(command->name) + " ";
    BashCases(*command, cases);
    words += fmt::format("    {}) _igloo_words '", command->name);
    for (const Word& word : command->words) words += std::string(word.name) + " ";
    for (const Flag& flag : command->flags) words += std::string(flag.name) + " ";
    words += "--help' ;;\n";
  }
  return "# bash completion for igloo, made by 'igloo completion bash'\n"
         "_igloo_words() {\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\")\n"
         "}\n"
         "_igloo() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} i\n"
         "  COMPREPLY=()\n"
         "  # --flag=value comes as three words\n"
         "  if [[ $current == = ]]; then\n"
         "    current=''\n"
         "  elif [[ $previous == = ]]; then\n"
         "    previous=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  fi\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    _igloo_words '" +
         names +
         "--help --version'\n"
         "    return\n"
         "  fi\n"
         "  for ((i = 2; i < COMP_CWORD; ++i)); do\n"
         "    # behind it stands another program's command line\n"
         "    [[ ${COMP_WORDS[i]} == -- ]] && return\n"
         "  done\n"
         "  case ${COMP_WORDS[1]}:$previous in\n" +
         cases +
         "  esac\n"
         "  case ${COMP_WORDS[1]} in\n" +
         words +
         "  esac\n"
         "}\n"
         "complete -F _igloo igloo\n";
}

std::string ZshCompletion(std::span<const Command* const> commands) {
  std::string names, cases, others;
  for (const Command* command : commands) {
    ZshNames(*command, others);
    names += "    " + Quoted(fmt::format("{}:{}", command->name, command->summary)) + "\n";
    ZshCase(*command, cases);
  }
  return "#compdef igloo\n"
         "# zsh completion for igloo, made by 'igloo completion zsh'\n"
         "_igloo_environments() {\n"
         "  local -a names\n"
         "  local from=list\n"
         "  case $words[1]:$words[2] in\n" +
         others +
         "  esac\n"
         "  names=(${(f)\"$(igloo env $from --names 2>/dev/null)\"})\n"
         "  compadd -a names\n"
         "}\n"
         "_igloo_change_sets() {\n"
         "  local -a names\n"
         "  names=(${(f)\"$(igloo changes list --names 2>/dev/null)\"})\n"
         "  compadd -a names\n"
         "}\n"
         "_igloo() {\n"
         "  local -a commands\n"
         "  commands=(\n" +
         names +
         "  )\n"
         "  if ((CURRENT == 2)); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  shift words\n"
         "  ((CURRENT--))\n"
         "  case $words[1] in\n" +
         cases +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _igloo ]]; then _igloo \"$@\"; else compdef _igloo igloo; fi\n";
}

std::string FishCompletion(std::span<const Command* const> commands) {
  std::string out =
      "# fish completion for igloo, made by 'igloo completion fish'\n"
      "complete -c igloo -f\n";
  for (const Command* command : commands) {
    out += fmt::format("complete -c igloo -n __fish_use_subcommand -a {} -d {}\n", command->name,
                       FishQuoted(command->summary));
    const std::string seen =
        fmt::format("complete -c igloo -n '__fish_seen_subcommand_from {}'", command->name);
    if (command->first_word != Values::kAny) {
      out += seen + FishValues(command->first_word, {}) + "\n";
    }
    for (const Word& word : command->words) {
      out += fmt::format("{} -a {} -d {}\n", seen, word.name, FishQuoted(word.description));
      if (word.values != Values::kAny) {
        out += fmt::format(
            "complete -c igloo -n '__fish_seen_subcommand_from {}; and "
            "__fish_seen_subcommand_from {}'{}\n",
            command->name, word.name, FishValues(word.values, word.choices));
      }
    }
    for (const Flag& flag : command->flags) {
      out += fmt::format("{} -l {}{} -d {}\n", seen, flag.name.substr(2),
                         flag.needs_value() ? FishValues(flag.values, flag.choices) : "",
                         FishQuoted(flag.description));
    }
  }
  return out;
}

}  // namespace igloo::cli
