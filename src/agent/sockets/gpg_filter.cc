#include "agent/sockets/gpg_filter.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace igloo::agent {
namespace {

/// Longer lines are none of the protocol's.
constexpr std::size_t kMostLine = 1002;

/// Commands that a client may send before it has read an answer. Real ones send one.
constexpr std::size_t kMostUnanswered = 64;

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

std::string_view WordOf(std::string_view line) { return line.substr(0, line.find(' ')); }

bool MayPass(std::string_view line) {
  const std::string_view word = WordOf(line);
  if (std::ranges::find(kAllowed, word) == kAllowed.end()) return false;
  return word != "GETINFO" || IsHarmlessQuestion(line);
}

/// What a client says when the agent asks it something. SECURITY: at any other time the agent would
/// answer it like a command, and every answer behind it would be taken for that of another command.
bool IsReply(std::string_view line) {
  const std::string_view word = WordOf(line);
  return word == "D" || word == "END" || word == "CAN";
}

}  // namespace

Result<Passed> GpgFilter::FromClient(std::string_view bytes) {
  Passed passed;
  line_ += bytes;
  for (std::size_t end = 0; (end = line_.find('\n')) != std::string::npos;) {
    if (end > kMostLine) break;
    const std::string line = line_.substr(0, end);
    line_.erase(0, end + 1);
    if (MayPass(line) && (asked_ || !IsReply(line))) {
      passed.to_server += line + "\n";
      NoteCommand(line);
    } else {
      note_("refused", Printable(Quoted(WordOf(line), 40)));
      passed.to_client += kForbidden;
    }
    if (unanswered_.size() > kMostUnanswered) {
      return Fail(Errc::kProtocol, "too many commands for gpg-agent at once");
    }
  }
  if (line_.size() > kMostLine) {
    return Fail(Errc::kProtocol, "a line for gpg-agent is too long");
  }
  return passed;
}

void GpgFilter::NoteCommand(const std::string& line) {
  const std::string_view word = WordOf(line);
  if (IsReply(line)) {
    if (word != "D") asked_ = false;
    return;
  }
  if (word == "RESET") key_.clear();
  if (word == "SIGKEY") key_ = line.substr(std::min(line.size(), word.size() + 1));
  unanswered_.emplace_back();
  if (word == "PKSIGN") unanswered_.back().signs_with = key_;
}

void GpgFilter::NoteAnswer(std::string_view line) {
  if (unanswered_.empty()) return;
  const std::string_view word = WordOf(line);
  if (word == "D") unanswered_.front().got_data = true;
  if (word == "INQUIRE") asked_ = true;
  if (word != "OK" && word != "ERR") return;
  const Command command = std::move(unanswered_.front());
  unanswered_.pop_front();
  if (word == "OK" && command.signs_with && command.got_data) {
    note_("signed", "with the key " + Printable(Quoted(*command.signs_with, 40)));
  }
}

Result<Passed> GpgFilter::FromServer(std::string_view bytes) {
  server_line_ += bytes;
  for (std::size_t end = 0; (end = server_line_.find('\n')) != std::string::npos;) {
    NoteAnswer(std::string_view(server_line_).substr(0, end));
    server_line_.erase(0, end + 1);
  }
  if (server_line_.size() > kMostLine) {
    return Fail(Errc::kProtocol, "a line of gpg-agent's is too long");
  }
  return Passed{.to_client = std::string(bytes)};
}

}  // namespace igloo::agent
