#include "agent/sockets/gpg_filter.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace igloo::agent {
namespace {

/// Longer lines are none of the protocol's.
constexpr std::size_t kMostLine = 1002;

/// What signing takes, and nothing that uses a key for something else.
constexpr std::array<std::string_view, 17> kAllowed = {
    "RESET",  "OPTION",     "GETINFO", "GETEVENTCOUNTER", "KEYINFO",  "HAVEKEY", "READKEY",
    "SIGKEY", "SETKEYDESC", "SETHASH", "PKSIGN",          "AGENT_ID", "NOP",     "BYE",
    "D",      "END",        "CAN"};

/// libgpg-error's "Forbidden", of gpg-agent's source.
constexpr std::string_view kForbidden = "ERR 67109115 Forbidden <GPG Agent>\n";

/// GETINFO tells much; what clients ask before they sign is this.
bool IsHarmlessQuestion(std::string_view line) {
  constexpr std::array<std::string_view, 4> kKnown = {"GETINFO version", "GETINFO restricted",
                                                      "GETINFO cmd_has_option KEYINFO --list",
                                                      "GETINFO std_env_names"};
  return std::ranges::find(kKnown, line) != kKnown.end() ||
         line.starts_with("GETINFO cmd_has_option ");
}

bool MayPass(std::string_view line) {
  const std::string_view word = line.substr(0, line.find(' '));
  if (std::ranges::find(kAllowed, word) == kAllowed.end()) return false;
  return word != "GETINFO" || IsHarmlessQuestion(line);
}

}  // namespace

Result<Passed> GpgFilter::FromClient(std::string_view bytes) {
  Passed passed;
  line_ += bytes;
  for (std::size_t end = 0; (end = line_.find('\n')) != std::string::npos;) {
    if (end > kMostLine) break;
    const std::string line = line_.substr(0, end);
    line_.erase(0, end + 1);
    const std::string word = line.substr(0, line.find(' '));
    if (MayPass(line)) {
      passed.to_server += line + "\n";
      if (word == "PKSIGN") note_("signed", "with gpg-agent");
    } else {
      note_("refused", Printable(Quoted(word, 40)));
      passed.to_client += kForbidden;
    }
  }
  if (line_.size() > kMostLine) {
    return Fail(Errc::kProtocol, "a line for gpg-agent is too long");
  }
  return passed;
}

Result<Passed> GpgFilter::FromServer(std::string_view bytes) {
  return Passed{.to_client = std::string(bytes)};
}

}  // namespace igloo::agent
