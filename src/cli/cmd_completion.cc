#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/console.h"

namespace igloo::cli {
namespace {

Result<int> RunCompletion(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const std::string_view shell, TakeWord(kCompletionCommand, args));
  if (args.words.size() > 1) {
    return Fail(Errc::kInvalidArgument, "'igloo completion' makes one script at a time");
  }
  if (shell == "bash") {
    console.Out(BashCompletion(Commands()));
  } else if (shell == "zsh") {
    console.Out(ZshCompletion(Commands()));
  } else {
    console.Out(FishCompletion(Commands()));
  }
  return 0;
}

Result<int> RunMan(const ParsedArgs& args, Console& console) {
  if (!args.words.empty()) {
    return Fail(Errc::kInvalidArgument, "'igloo man' takes no words",
                "'igloo COMMAND --help' is about one command");
  }
  console.Out(Manual(Commands(), IGLOO_VERSION));
  return 0;
}

constexpr Word kShells[] = {{"bash", "source <(igloo completion bash)"},
                            {"zsh", "source <(igloo completion zsh)"},
                            {"fish", "igloo completion fish | source"}};

}  // namespace

const Command kCompletionCommand = {
    .name = "completion",
    .summary = "print a script that completes igloo's command line in a shell",
    .usage = "(bash | zsh | fish)",
    .flags = {},
    .words = kShells,
    .details = "",
    .run = RunCompletion,
};

const Command kManCommand = {
    .name = "man",
    .summary = "print the manual page",
    .usage = "",
    .flags = {},
    .words = {},
    .details = "Read it with: igloo man | man -l -\n",
    .run = RunMan,
};

}  // namespace igloo::cli
