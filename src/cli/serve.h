#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/args.h"
#include "cli/console.h"
#include "mcp/http.h"
#include "tools/service.h"

namespace igloo::cli {

/// How clients reach a server.
struct Transport {
  std::optional<mcp::HttpOptions> http = {};  ///< empty: standard input and output
};

/// Which contracts a server serves, and as what.
struct Serving {
  tools::Face face = {};
  /// Makes the contracts, over the parts that all of them share.
  std::function<std::vector<std::unique_ptr<tools::Contract>>(tools::Workshop)> contracts = {};
  tools::ToolService::Load load = {};
  Transport transport = {};
};

/// Reads the configuration that `args` name, whenever it is called.
tools::ToolService::Load LoadFor(const ParsedArgs& args, Console& console);

/// Serves until the client has gone, or a signal ends it. Ends everything that it started.
Result<int> Serve(Serving serving, Console& console);

}  // namespace igloo::cli
