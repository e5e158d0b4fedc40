#include "cli/session/repl.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <set>

#include "base/private_directory.h"
#include "base/text.h"
#include "cli/config/settings.h"
#include "language/language.h"
#include "service/places.h"

namespace igloo::cli {
namespace {

namespace control = service::control;

/// Where lines are kept, by language; nowhere when there is no place for it.
std::string HistoryFile(const language::Prompt& prompt) {
  const auto place = service::StatePlace();
  if (!place) return "";
  if (!OpenPrivateDirectory(*place)) return "";
  return fmt::format("{}/repl-history-{}", *place, prompt.history);
}

/// What people type to leave.
bool IsFarewell(std::string_view line) {
  return line == "exit" || line == "exit()" || line == "quit" || line == "quit()" ||
         line == ".exit";
}

class Conversation {
 public:
  Conversation(ReplTarget& partner, Console& console)
      : partner_(partner), console_(console), prompt_(language::PromptOf(partner.interpreter())) {}

  /// What was typed so far is whole.
  Result<void> Run(const std::string& code) {
    Remember(code);
    bool ends_line = true;
    const control::Heard heard = [&](const control::Progress& progress) {
      const auto* output = std::get_if<control::Output>(&progress);
      if (output == nullptr) return console_.Note("the session is busy; waiting for its turn");
      if (output->bytes.empty()) return;
      console_.Out(output->bytes);
      ends_line = output->bytes.ends_with('\n');
    };
    IGLOO_ASSIGN(const control::Ran ran, partner_.Run({.code = code, .echo = true}, heard));
    if (!ends_line) console_.Out("\n");
    Tell(ran);
    return {};
  }

  editor::Completion Complete(std::string_view before) {
    const std::string word(language::WordAtEnd(prompt_, before));
    std::set<std::string> words;
    for (const std::string& each : seen_) {
      if (each.starts_with(word) && each != word) words.insert(each);
    }
    if (!word.empty()) AskForNames(word, words);
    return {.typed = word.size(), .words = {words.begin(), words.end()}};
  }

 private:
  void Tell(const control::Ran& ran) {
    const std::string value = ran.value.value_or("");
    if (!value.empty()) console_.Out(Printable(value, Newlines::kKeep) + "\n");
    for (const auto& [type, size] : ran.parts) {
      Remark(fmt::format("{} was shown: {}, {} bytes",
                         type.starts_with("image/") ? "a picture" : "something", Printable(type),
                         size));
    }
    for (const auto& [path, size] : ran.files) {
      Remark(fmt::format("file {}, {} bytes", Printable(path), size));
    }
    std::vector<std::string> notes = std::exchange(late_, {});
    std::ranges::copy(ran.notes, std::back_inserter(notes));
    for (const std::string& note : notes) Remark(Printable(note));
  }
  void Remark(const std::string& text) {
    console_.Out(console_.Paint(Console::Tone::kDim, "[" + text + "]") + "\n");
  }

  void AskForNames(const std::string& word, std::set<std::string>& words) {
    const std::string code = language::CompletionCode(prompt_, word);
    if (code.empty()) return;
    std::string output;
    const control::Heard heard = [&](const control::Progress& progress) {
      if (const auto* came = std::get_if<control::Output>(&progress)) output += came->bytes;
    };
    const auto ran = partner_.Run({.code = code, .if_idle = true, .time_ms = 1000}, heard);
    if (!ran) return;
    // What somebody printed meanwhile is told with the next result.
    std::ranges::copy(ran->notes, std::back_inserter(late_));
    for (std::size_t at = 0; at < output.size();) {
      const std::size_t end = std::min(output.find('\n', at), output.size());
      std::string name = output.substr(at, end - at);
      if (name.starts_with(word) && name.size() < 200 && IsUtf8(name))
        words.insert(std::move(name));
      at = end + 1;
    }
  }

  void Remember(const std::string& code) {
    std::string word;
    for (const char c : code + "\n") {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
        word += c;
        continue;
      }
      if (word.size() > 2 && seen_.size() < 10'000) seen_.insert(word);
      word.clear();
    }
  }

  ReplTarget& partner_;
  Console& console_;
  const language::Prompt& prompt_;
  std::set<std::string> seen_ = {};
  std::vector<std::string> late_ = {};
};

/// A program that writes lines, with no prompt between its answers.
Result<int> Obey(ReplTarget& partner, Conversation& conversation) {
  const language::Prompt& prompt = language::PromptOf(partner.interpreter());
  std::string text, line;
  while (std::getline(std::cin, line)) {
    text += line + "\n";
    // A program has empty lines inside, too.
    if (prompt.whole == language::Whole::kEmptyLine || !language::IsWhole(prompt, text)) continue;
    if (text.find_first_not_of(" \t\r\n") != std::string::npos) {
      IGLOO_TRY(conversation.Run(text));
    }
    text.clear();
  }
  if (!text.empty()) IGLOO_TRY(conversation.Run(text));
  return 0;
}

}  // namespace

Result<int> Converse(ReplTarget& partner, Console& console) {
  Conversation conversation(partner, console);
  if (::isatty(STDIN_FILENO) != 1 || !console.editor()) return Obey(partner, conversation);
  // Between a line and its answer nobody catches it.
  ::signal(SIGINT, SIG_IGN);
  const language::Prompt& prompt = language::PromptOf(partner.interpreter());
  const auto reader = console.editor()(
      HistoryFile(prompt), [&](std::string_view before) { return conversation.Complete(before); });
  const std::string first = partner.environment() + "> ";
  const std::string more = std::string(std::max<std::size_t>(first.size(), 4) - 4, '.') + ".   ";
  std::string text;
  for (;;) {
    const auto read = reader->ReadLine(text.empty() ? first : more);
    if (read.end == editor::LineReader::End::kInterrupted) {
      text.clear();
      console.Out("\n");
      continue;
    }
    if (read.end == editor::LineReader::End::kEndOfFile || (text.empty() && IsFarewell(read.line)))
      break;
    text += read.line + "\n";
    if (text.find_first_not_of(" \t\n") == std::string::npos) text.clear();
    if (text.empty() || !language::IsWhole(prompt, text)) continue;
    IGLOO_TRY(conversation.Run(std::exchange(text, {})));
  }
  console.Out(partner.stays()
                  ? fmt::format("\n[session '{}' lives on]\n", Printable(partner.session()))
                  : "\n");
  return 0;
}

}  // namespace igloo::cli
