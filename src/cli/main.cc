#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/become.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/personalities/claude_sandbox.h"
#include "cli/personalities/claudebox.h"
#include "cli/personalities/nix_sandbox_mcp.h"
#include "cli/personalities/sandbox_mcp.h"
#include "cli/run/run_output.h"

namespace igloo::cli {
namespace {

constexpr std::array<const Command*, 18> kCommands = {
    &kRunCommand,          &kShellCommand,      &kAgentCommand, &kReplCommand,    &kSessionCommand,
    &kSessionAgentCommand, &kChangesCommand,    &kApplyCommand, &kDiscardCommand, &kEnvCommand,
    &kConfigCommand,       &kTrustCommand,      &kMcpCommand,   &kLogCommand,     &kNetCommand,
    &kDoctorCommand,       &kCompletionCommand, &kManCommand};

Error UnknownCommand(const std::string& word) {
  std::array<std::string_view, kCommands.size()> names;
  for (std::size_t i = 0; i < kCommands.size(); ++i) names[i] = kCommands[i]->name;
  const std::string nearest = Nearest(word, names.data(), names.size());
  return {Errc::kInvalidArgument, "there is no command '" + Printable(word) + "'",
          nearest.empty() ? "'igloo --help' lists the commands" : "did you mean '" + nearest + "'?",
          0};
}

/// SECURITY: a closed 0, 1 or 2 would become the number of the next thing igloo opens, and the
/// code's output would go to the launcher's socket, say.
void FillStandardDescriptors() {
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) (void)!::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
  }
}

/// Whether a program is at the other end of standard input, and no person, terminal or /dev/null.
bool IsSpokenTo() {
  struct stat info{};
  return ::fstat(STDIN_FILENO, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

}  // namespace

std::span<const Command* const> Commands() { return kCommands; }

int Main(std::string_view program, std::span<const std::string> words,
         editor::MakeLineReader editor) {
  // A reader that goes away is an error of write(), not the end of igloo in the middle of a step.
  ::signal(SIGPIPE, SIG_IGN);
  FillStandardDescriptors();
  Console console(STDOUT_FILENO, STDERR_FILENO);
  console.OfferEditor(std::move(editor));
  const std::string_view name = program.substr(program.rfind('/') + 1);
  if (name == kSandboxMcp) return SandboxMcpMain(words, console);
  if (name == kClaudebox) return ClaudeboxMain(words, console);
  if (const auto* launcher = claude_sandbox::FindLauncher(name)) {
    return ClaudeSandboxMain(*launcher, words, console);
  }
  if (name == kNixSandboxMcp) return NixSandboxMcpMain(words, console);
  // A client that starts igloo by a name alone, as with 'nix run FLAKE', wants the server.
  const std::string serve = "mcp";
  if (words.empty() && IsSpokenTo()) words = {&serve, 1};
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    console.Out(Overview(kCommands));
    return words.empty() ? kExitFailed : 0;
  }
  if (words[0] == "--version") {
    console.Out("igloo " IGLOO_VERSION "\n");
    return 0;
  }
  if (!console.editor() && NeedsEditor(words)) {
    console.Report(BecomeEditing(program, words));
    return kExitFailed;
  }
  for (const Command* command : kCommands) {
    if (command->name != words[0]) continue;
    const auto args = ParseArgs(*command, words.subspan(1));
    if (args && args->Has("--help")) {
      console.Out(HelpFor(*command));
      return 0;
    }
    const Result<int> code =
        args ? command->run(*args, console) : Result<int>(std::unexpected(args.error()));
    if (code) return *code;
    // A program that asked for JSON gets it for a wrong command line, too.
    if (std::ranges::find(words, "--json") != words.end()) {
      console.Out(ErrorJson(code.error()));
    } else {
      console.Report(code.error());
    }
    return kExitFailed;
  }
  console.Report(UnknownCommand(words[0]));
  return kExitFailed;
}

}  // namespace igloo::cli
