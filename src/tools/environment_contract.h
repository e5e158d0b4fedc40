#pragma once

#include <functional>
#include <vector>

#include "tools/contract.h"
#include "tools/per_environment.h"

namespace igloo::tools {

/// sandbox-mcp's tools: one for each environment, with parameters and texts of their own. What runs
/// in them sees no project.
class EnvironmentContract : public Contract {
 public:
  struct Parts {
    /// Looks for the user's sandboxes; asked once for every state of the configuration.
    std::function<config::SandboxScan()> scan = {};
    Uncovered uncovered = Uncovered::kServe;
    unsigned cores = 1;  ///< of this machine
  };
  EnvironmentContract(Workshop workshop, Parts parts)
      : workshop_(workshop), parts_(std::move(parts)) {}

  std::vector<mcp::Tool> Tools(const Setup& setup) const override;
  boost::asio::awaitable<mcp::Answer<mcp::ToolResult>> Run(mcp::Call& call, mcp::ToolCall request,
                                                           std::shared_ptr<const Setup> setup,
                                                           Trace& trace) override;

 private:
  const std::vector<EnvironmentTool>& Made(const Setup& setup) const;

  Workshop workshop_;
  Parts parts_;
  mutable const Setup* made_of_ = nullptr;  ///< compared, never followed
  mutable std::vector<EnvironmentTool> made_ = {};
};

}  // namespace igloo::tools
