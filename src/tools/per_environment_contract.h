#pragma once

#include "tools/contract.h"
#include "tools/per_environment.h"

namespace igloo::tools {

/// sandbox-mcp's contract: one tool for each environment.
class PerEnvironmentContract : public Contract {
 public:
  PerEnvironmentContract(Workshop workshop, Uncovered uncovered)
      : workshop_(std::move(workshop)), uncovered_(uncovered) {}

  std::vector<mcp::Tool> Tools(const service::Setup& setup) const override;
  boost::asio::awaitable<mcp::Answer<mcp::ToolResult>> Run(
      mcp::Call& call, mcp::ToolCall request, std::shared_ptr<const service::Setup> setup,
      service::Trace& trace) override;

 private:
  using All = std::shared_ptr<const std::vector<EnvironmentTool>>;  // shared with the calls
  All ToolsOf(const std::shared_ptr<const service::Setup>& setup);

  Workshop workshop_;
  Uncovered uncovered_;
  // Those of the last call: with thousands of sandboxes they take long to make.
  std::shared_ptr<const service::Setup> setup_ = {};  // shared, so that no other gets its address
  All tools_ = {};
};

}  // namespace igloo::tools
