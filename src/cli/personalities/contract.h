#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "config/sandbox_mcp_scan.h"
#include "tools/environment_contract.h"

namespace igloo::cli {

/// A line for people.
using Log = std::function<void(std::string_view)>;

/// The user's sandboxes from where sandbox-mcp keeps them. What is wrong with them goes to `log`.
config::SandboxScan ReadSandboxes(const Log& log);

/// The contract with one tool for each environment, as this machine and this user have it.
std::unique_ptr<tools::Contract> MakeEnvironmentContract(tools::Workshop workshop,
                                                         tools::Uncovered uncovered, Log log);

}  // namespace igloo::cli
