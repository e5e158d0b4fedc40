#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "environment/environment.h"

namespace igloo::environment {

/// Whether an interpreter that was started on a named pipe has done all that it does before it runs
/// code when it waits for that pipe to be opened, and has looked at nothing that would be different
/// for a file. So one that waits is the program itself, from its first instruction on.
bool WaitsForFile(const Environment& environment);

/// What one argument may hold: the kernel's MAX_ARG_STRLEN, but for the byte that ends it.
inline constexpr std::size_t kMaxArgument = (128U << 10) - 1;

/// How a command starts code.
struct Start {
  std::vector<std::string> interpreter = {};
  CodePassing passing = CodePassing::kFile;
  std::string code_file = {};
  std::string language = {};
  bool operator==(const Start&) const = default;
};

/// A command line as people write it ("python3 -c", "bash -s", "lua"): code is its last argument
/// where it ends with -c or -e, and its standard input otherwise. Interpreters that igloo can keep
/// alive get a file instead, which has no limit and comes to the same.
Start StartFor(std::vector<std::string> words);

/// "main.py" for "python"; "code" for what is none of igloo's languages.
std::string_view CodeFileOf(std::string_view language);

/// The command that runs a file with code, whose path is put behind it, however the environment's
/// interpreter takes code. What is not kFile needs /bin/sh inside.
std::vector<std::string> FileCommand(const Environment& environment);

/// Whether code can be an argument; says why not.
Result<void> CheckArgument(const Environment& environment, std::string_view code);

}  // namespace igloo::environment
