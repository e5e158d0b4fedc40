#pragma once

#include "tools/contract.h"
#include "tools/per_environment.h"

namespace igloo::tools {

/// sandbox-mcp's contract: one tool for each environment.
class PerEnvironmentContract : public Contract {
 public:
  PerEnvironmentContract(Workshop workshop, Uncovered uncovered)
      : workshop_(workshop), uncovered_(uncovered) {}

  std::vector<mcp::Tool> Tools(const Setup& setup) const override;
  boost::asio::awaitable<mcp::Answer<mcp::ToolResult>> Run(mcp::Call& call, mcp::ToolCall request,
                                                           std::shared_ptr<const Setup> setup,
                                                           Trace& trace) override;

 private:
  Workshop workshop_;
  Uncovered uncovered_;
};

}  // namespace igloo::tools
