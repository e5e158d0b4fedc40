#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "cli/args.h"
#include "config/config.h"
#include "environment/run_policy.h"

namespace igloo::cli {

/// "2.5" -> 2500. More than 0 and at most a day.
Result<std::uint64_t> ParseTimeout(const std::string& text);

/// "512" -> 512 MB in bytes. 16 MB to 1 TB.
Result<std::uint64_t> ParseMemory(const std::string& text);

/// DIR or DIR:MODE, not looked at yet.
Result<environment::Project> SplitProject(const std::string& text);

/// Whether code may see it: the directory itself, not a link, not / and not the home directory. Its
/// path is the real one then.
Result<void> CheckProject(environment::Project& project);

/// What `run` and `shell` have in common: --timeout and --memory.
Result<void> ReadRequest(const ParsedArgs& args, environment::RunRequest& request);

}  // namespace igloo::cli
