#include "service/finished.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "session/network/connection.h"

namespace igloo::service {

Finished FinishedFrom(session::CallResult result) {
  Finished finished{
      .looked_for_files = true, .value = std::move(result.value), .parts = std::move(result.parts)};
  session::RunResult& run = finished.run;
  run.verdict = result.verdict;
  run.exit_code = result.exit_code;
  run.signal = result.signal;
  run.output = std::move(result.output);
  run.error = std::move(result.error);
  run.usage.wall_micros = static_cast<std::uint64_t>(result.wall_micros);
  run.usage.cpu_micros = result.cpu_micros;
  run.usage.peak_kib = result.peak_kib;
  run.refused = std::move(result.refused);
  NoteRefusals(finished);
  return finished;
}

std::vector<std::string> NotesOf(const Finished& finished) {
  constexpr std::size_t kMostLate = 1000;
  std::vector<std::string> notes;
  for (std::string_view late :
       {std::string_view(finished.late_output), std::string_view(finished.late_error)}) {
    if (late.ends_with('\n')) late.remove_suffix(1);
    if (late.empty()) continue;
    notes.push_back(fmt::format("since the last call something printed: {}",
                                Printable(Quoted(late, kMostLate), Newlines::kKeep)));
  }
  std::ranges::copy(finished.notes, std::back_inserter(notes));
  return notes;
}

bool CouldHaveRawSockets(const sandbox::Network& network) {
  const auto* connected = std::get_if<sandbox::ConnectedNetwork>(&network);
  return connected != nullptr && connected->tier == "internet" && !connected->raw_sockets;
}

std::string RawSocketsHint(std::string_view environment, const session::RunResult& run) {
  if (!run.error.kept().contains("Operation not permitted")) return {};
  return fmt::format(
      "if that was a raw socket (tcpdump, nmap -sS): they need raw_sockets = true in "
      "[environments.{}] of the user's configuration",
      environment);
}

void NoteRawSockets(std::string_view environment, Finished& finished) {
  std::string hint = RawSocketsHint(environment, finished.run);
  if (!hint.empty()) finished.notes.push_back(std::move(hint));
}

void NoteRefusals(Finished& finished) {
  const auto remedy = [](const session::Refusal& refusal) -> std::string {
    if (refusal.rule.empty()) return {};
    const std::string rule = Printable(refusal.rule);
    // A sandbox without a name of its own is gone by now.
    return "; the user can allow it: " +
           (session::ParseRunName(refusal.sandbox)
                ? "'" + rule + "' in 'allow' of the environment"
                : "igloo net allow " + ShellQuote(Printable(refusal.sandbox)) + " '" + rule + "'");
  };
  std::ranges::move(Sentences(finished.run.refused, remedy), std::back_inserter(finished.notes));
}

}  // namespace igloo::service
