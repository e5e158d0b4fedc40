#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/args.h"
#include "cli/console.h"
#include "cli/mcp/log_level.h"
#include "cli/mcp/reloading.h"
#include "http/token.h"
#include "mcp/http.h"
#include "tools/tool_service.h"

namespace igloo::cli {

/// A server: what it is called, which contracts it keeps, and how clients reach it.
struct Serving {
  tools::Face face = {};
  /// Makes the contracts, over the parts that all of them share.
  std::function<std::vector<std::unique_ptr<tools::Contract>>(tools::Workshop)> contracts = {};
  ParsedArgs args = {};  ///< --config, --project, --no-project
  /// What counts with this configuration; they are ignored unless it is given.
  std::function<Sandboxes(const config::Config&)> sandboxes = {};
  /// Environments that the caller brings along; what is found has precedence.
  std::vector<environment::Artifact> brought = {};
  /// What the caller has to say about the configuration, after it was read.
  std::function<void(config::Config&)> adapt = {};
  std::optional<mcp::HttpOptions> http = {};  ///< empty: standard input and output
  std::vector<std::string> notes = {};        ///< said when it starts
  std::vector<http::Token> tokens = {};       ///< one for each principal; empty: there is only one
  /// A line for people; standard error unless it is given.
  std::function<void(std::string_view)> say = {};
  /// How much is said; as [daemon] has it unless it is given.
  std::optional<LogLevel> level = {};
};

/// Serves until the client has gone, or a signal ends it. Ends everything that it started.
Result<int> Serve(Serving serving, Console& console);

}  // namespace igloo::cli
