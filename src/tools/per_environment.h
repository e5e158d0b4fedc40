#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "config/catalogue.h"
#include "config/sandbox_mcp_scan.h"
#include "environment/run_policy.h"
#include "mcp/json_rpc.h"
#include "mcp/types.h"
#include "service/setup.h"
#include "session/run.h"

namespace igloo::tools {

/// One tool of the contract that has one for each environment (sandbox-mcp's).
struct EnvironmentTool {
  config::SandboxSpec spec = {};  ///< with the limits that really hold
  std::string environment = {};   ///< its name in the catalogue
  /// Variables of the environment that speak of igloo's usual home, for where these runs live.
  std::map<std::string, std::string> variables = {};
  bool raw_sockets = false;                  ///< its environment's configuration names that right
  std::vector<std::string> entrypoint = {};  ///< its environment's, as in environment::Environment
  /// Why no call of it can run, and the fix. It is listed all the same: a tool that is missing
  /// explains nothing.
  std::optional<Error> unavailable = {};
};

/// Whether environments that no sandbox is made of get a tool of their own.
enum class Uncovered { kServe, kLeaveOut };

/// All tools in the order in which they are listed: those that igloo brings along, the user's by
/// directory, then environments that are left. Of one id the user's beats igloo's, and stands in
/// its place. Pure.
std::vector<EnvironmentTool> MakeEnvironmentTools(const config::SandboxScan& scan,
                                                  const config::Catalogue& catalogue,
                                                  Uncovered uncovered);

/// The sandbox that an environment without one of its own stands for.
config::SandboxSpec SpecFor(const environment::Environment& environment);

/// Fails when a sandbox asks for less wall than igloo's, or for something that igloo does not have.
Result<void> CheckWall(const config::SandboxSpec& spec);
/// Whether its own file gives it a network; the environment's does not count.
bool HasNetwork(const config::SandboxSpec& spec);

/// What a description has to know beside the sandbox itself.
struct Surroundings {
  unsigned cores = 1;           ///< the machine's, or fewer where its environment is held to that
  bool limits_cpus = false;     ///< a sandbox's own number of them is kept here
  service::Rights rights = {};  ///< of runs in the tool's environment, as they are configured
};

/// The tool as clients see it.
mcp::Tool Describe(const EnvironmentTool& tool, const Surroundings& surroundings);

/// What a client may assume. A sandbox's own hints count as far as they are true: code with a
/// network or with a writable project can change what it reaches, whatever the file says.
mcp::ToolHints HintsOf(const config::SandboxSpec& spec, const service::Rights& rights);

/// What one call asks for. Its variables are the contract's: what the user configured for the
/// environment beats them.
struct PreparedCall {
  std::string environment = {};
  environment::RunRequest request = {};
};

/// A run, or what there is to say without one.
using Prepared = std::variant<PreparedCall, mcp::ToolResult>;

/// Checks a call's arguments. Errors are the contract's own, word for word where it has words.
mcp::Answer<Prepared> Prepare(const EnvironmentTool& tool, const mcp::JsonObject& arguments);

/// The command line of a sandbox: the contract's commands as they work with what environments have,
/// and what runs beside them. As with a container engine, an image's entry point stands before what
/// is started first. Nothing in it is quoted or pasted together.
std::vector<std::string> CommandLine(const config::SandboxSpec& spec,
                                     const std::vector<std::string>& entrypoint);

/// The result of a run that took place.
mcp::Answer<mcp::ToolResult> Render(const EnvironmentTool& tool, const session::RunResult& result);

/// The result of one that could not.
mcp::ToolResult RenderRefusal(const Error& error);

}  // namespace igloo::tools
