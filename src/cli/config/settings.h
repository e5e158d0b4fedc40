#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "cli/args.h"
#include "config/config.h"
#include "config/load.h"

namespace igloo::cli {

/// Where code sees the project, beside --project. Nobody types it: PROJECT_MOUNT says it.
inline constexpr const char* kProjectMountFlag = "--project-mount";

inline constexpr Flag kShowHiddenFlag = {
    .name = "--show-hidden",
    .value = "GLOB",
    .description =
        "show what is hidden in the project and matches, such as '.env'; can be repeated",
    .times = Times::kOften};

/// What a command does with the project.
enum class ProjectUse {
  kShow,   ///< it is shown to code: it must be there, and be what it looks like
  kNames,  ///< only the environments of its own file matter
};

/// The configuration that counts for a command: the file, over it --project and --no-project, and
/// the environments of the project's own file. One that is not trusted is named on standard error
/// and does not count.
Result<config::Config> ReadConfig(const ParsedArgs& args, ProjectUse use, Console& console);

/// The project that PROJECT_DIR names, at PROJECT_MOUNT, unless the command line has a say. One
/// that cannot be shown is left out, and `say` is told: the server is of use without it.
ParsedArgs WithNamedProject(ParsedArgs args, const std::function<void(std::string_view)>& say);

/// What [daemon] says, for those who must know it before anything else is read. A file that is
/// broken says nothing here; whoever reads it then reports it.
config::DaemonConfig ReadDaemon(const ParsedArgs& args);

/// For programs that serve standard input and output alone: a configuration that asks for HTTP is
/// refused, since nobody would listen.
Result<void> RefuseHttp(const config::DaemonConfig& daemon, std::string_view program);

}  // namespace igloo::cli
