#include "environment/interpreter.h"

#include <fmt/format.h>

#include "base/text.h"
#include "language/language.h"

namespace igloo::environment {
namespace {

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string Quoted(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + ShellQuote(word);
  return out;
}

}  // namespace

bool WaitsForFile(const Environment& environment) {
  // With options, an interpreter may do anything with its file before it opens it.
  if (environment.passing != CodePassing::kFile || environment.interpreter.size() != 1)
    return false;
  return language::Waits(NameOf(environment.interpreter[0]));
}

std::string_view CodeFileOf(std::string_view language) {
  const language::Language* found = language::Find(language);
  return found == nullptr ? "code" : found->code_file;
}

Start StartFor(std::vector<std::string> words) {
  if (words.empty()) return {};
  const language::Language* known = language::FindByProgram(NameOf(words[0]));
  if (known != nullptr && known->driver) {
    const bool flagged =
        words.size() > 1 && (words.back() == known->argument || words.back() == known->input);
    if (flagged) words.pop_back();
    if (flagged || words.size() == 1) {
      return {.interpreter = std::move(words),
              .code_file = std::string(known->code_file),
              .language = std::string(known->name)};
    }
  }
  const bool argument = words.size() > 1 && (words.back() == "-c" || words.back() == "-e");
  return {.interpreter = std::move(words),
          .passing = argument ? CodePassing::kArgument : CodePassing::kInput,
          .code_file = std::string(CodeFileOf(""))};
}

std::vector<std::string> FileCommand(const Environment& environment) {
  if (environment.passing == CodePassing::kFile) return environment.interpreter;
  // $(...) drops newlines at the end; the dot behind them keeps them.
  const std::string script = environment.passing == CodePassing::kInput
                                 ? "exec " + Quoted(environment.interpreter) + " <\"$1\""
                                 : "code=$(cat \"$1\" && printf .) && exec " +
                                       Quoted(environment.interpreter) + " \"${code%.}\"";
  return {"/bin/sh", "-c", script, "igloo"};
}

Result<void> CheckArgument(const Environment& environment, std::string_view code) {
  const std::string command = Printable(Quoted(environment.interpreter));
  if (code.find('\0') != std::string_view::npos) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("the code has a zero byte, and '{}' takes code as an argument, which "
                            "ends there",
                            command),
                "write it as an escape of the language");
  }
  if (code.size() <= kMaxArgument) return {};
  return Fail(Errc::kInvalidArgument,
              fmt::format("the code has {} bytes, and '{}' takes code as an argument, for which "
                          "the kernel allows {}",
                          code.size(), command, kMaxArgument),
              "write shorter code, or configure an interpreter that takes a file or its input");
}

}  // namespace igloo::environment
