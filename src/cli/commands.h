#pragma once

#include "cli/args.h"
#include "editor/line_reader.h"

namespace igloo::cli {

// Exit codes of igloo's own failures; the code's own exit code passes through otherwise.
inline constexpr int kExitFailed = 125;         ///< igloo could not do it
inline constexpr int kExitNotExecutable = 126;  ///< the program is there but cannot be started
inline constexpr int kExitNotFound = 127;       ///< there is no such program

extern const Command kRunCommand;
extern const Command kShellCommand;
extern const Command kAgentCommand;
extern const Command kReplCommand;
extern const Command kSessionCommand;
extern const Command kSessionAgentCommand;
extern const Command kEnvCommand;
extern const Command kChangesCommand;
extern const Command kApplyCommand;
extern const Command kDiscardCommand;
extern const Command kDoctorCommand;
extern const Command kConfigCommand;
extern const Command kTrustCommand;
extern const Command kMcpCommand;
extern const Command kLogCommand;
extern const Command kNetCommand;
extern const Command kCompletionCommand;
extern const Command kManCommand;

/// All of them, in the order in which they are shown.
std::span<const Command* const> Commands();

/// Runs `program words...` and returns its exit code. igloo is known by several names: a link
/// called as one of the programs that it stands in for behaves like that one. Commands for which a
/// person needs an editor become the program that has one.
int Main(std::string_view program, std::span<const std::string> words,
         editor::MakeLineReader editor = {});

}  // namespace igloo::cli
