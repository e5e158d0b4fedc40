#pragma once

#include <string_view>
#include <vector>

#include "cli/args.h"
#include "config/config.h"
#include "config/load.h"

namespace igloo::cli {

/// What of the caller's environment decides which configuration counts.
config::Variables ReadVariables();

/// Where the server keeps what it writes down. Fails when there is no such place: a home that is
/// not there stays so, and nothing is made outside of what the user has.
Result<std::string> StatePlace();

/// Names of the environments that igloo brings along.
std::vector<std::string_view> PresetNames();

/// Where code sees the project, beside --project. Nobody types it: PROJECT_MOUNT says it.
inline constexpr const char* kProjectMountFlag = "--project-mount";

/// What a command does with the project.
enum class ProjectUse {
  kShow,   ///< it is shown to code: it must be there, and be what it looks like
  kNames,  ///< only the environments of its own file matter
};

/// The configuration that counts for a command: the file, over it --project and --no-project, and
/// the environments of the project's own file. One that is not trusted is named on standard error
/// and does not count.
Result<config::Config> ReadConfig(const ParsedArgs& args, ProjectUse use, Console& console);

}  // namespace igloo::cli
