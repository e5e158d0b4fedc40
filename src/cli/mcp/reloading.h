#pragma once

#include <string>
#include <vector>

#include "cli/args.h"
#include "config/config.h"
#include "watch/paths.h"

namespace igloo::cli {

/// Whether a server also serves what sandbox-mcp's own files describe.
enum class Sandboxes { kIgnore, kServe };

/// The file that a server's configuration is read from.
std::vector<watch::Watched> ConfigurationFiles(const ParsedArgs& args);
/// The files that say more, as that one has it: the project's own, and sandbox-mcp's.
std::vector<watch::Watched> OtherConfigurationFiles(const config::Config& config,
                                                    Sandboxes sandboxes);
/// Another one whenever one of these files was written or replaced. Never empty.
std::string StampOf(const std::vector<watch::Watched>& files);

/// All that a server's tools are made of, as its configuration has it.
std::vector<watch::Watched> SourcesOf(const ParsedArgs& args, const config::Config& config,
                                      Sandboxes sandboxes);

}  // namespace igloo::cli
