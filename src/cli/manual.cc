#include <fmt/format.h>

#include "cli/completion.h"

namespace igloo::cli {
namespace {

/// Text that roff shows as it is: dashes are minus signs, a leading dot or quote is no request.
std::string Roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\') {
      out += "\\e";
    } else if (text[i] == '-') {
      out += "\\-";
    } else if (text[i] == '\'') {
      out += "\\(aq";
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string Item(std::string_view name, std::string_view value, std::string_view description) {
  return fmt::format(".TP\n\\fB{}\\fR{}{}\n{}\n", Roff(name), value.empty() ? "" : " ",
                     value.empty() ? "" : "\\fI" + Roff(value) + "\\fR", Roff(description));
}

std::string Section(const Command& command) {
  std::string out = fmt::format(".SS igloo {}\n{}.\n.PP\n.B igloo {}\n{}\n", Roff(command.name),
                                Roff(command.summary), Roff(command.name), Roff(command.usage));
  for (const Word& word : command.words) out += Item(word.name, "", word.description);
  for (const Flag& flag : command.flags) {
    out += flag.may_have_value()
               ? Item(fmt::format("{}[={}]", flag.name, flag.value_name()), "", flag.description)
               : Item(flag.name, flag.value, flag.description);
  }
  if (!command.details.empty()) out += ".PP\n.nf\n" + Roff(command.details) + ".fi\n";
  return out;
}

}  // namespace

std::string Manual(std::span<const Command* const> commands, std::string_view version) {
  std::string out = fmt::format(
      ".TH IGLOO 1 \"\" \"igloo {}\" \"User Commands\"\n"
      ".SH NAME\nigloo \\- run code that language models write behind walls\n"
      ".SH SYNOPSIS\n.B igloo\n.I COMMAND\n[OPTIONS] ...\n"
      ".SH DESCRIPTION\n"
      "Igloo gives a program a fresh sandbox of its own: programs read\\-only, a workspace in\n"
      "memory, no network, no file of yours, no privilege, and nothing left when it ends.\n"
      ".SH COMMANDS\n",
      Roff(version));
  for (const Command* command : commands) out += Section(*command);
  out +=
      ".SH EXIT STATUS\n"
      "The code's own exit status is passed on; 128 + n stands for signal n.\n" +
      Item("124", "", "The code hit its time limit.") +
      Item("125", "", "igloo could not do what was asked.") +
      Item("126", "", "The program is there but cannot be started.") +
      Item("127", "", "There is no such program inside.") + ".SH ENVIRONMENT\n" +
      Item("IGLOO_SUBORDINATE_IDS", "",
           "When off, sandboxes of a server get no ids of /etc/subuid and /etc/subgid.") +
      Item("NIX_SANDBOX_DIR", "",
           "Directory of environments that mkSandbox made; "
           "~/.config/nix-sandbox-mcp/sandboxes by default.") +
      Item("NO_COLOR", "", "When set, nothing is coloured.") + ".SH FILES\n" +
      Item("~/.config/igloo/environments", "",
           "Environments of your own: directories with a metadata.json.") +
      Item("~/.local/state/igloo/runs.jsonl", "",
           "What clients of the MCP server ran, one JSON document per line; XDG_STATE_HOME moves "
           "it. "
           "Older files have .1, .2, ... behind their name.");
  return out;
}

}  // namespace igloo::cli
