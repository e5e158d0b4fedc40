#pragma once

#include "tools/contract.h"

namespace igloo::tools {

/// The tool `run` as nix-sandbox-mcp served it, to the letter: its texts, its protocol errors, its
/// limit on output, no structured half.
class OriginalContract : public Contract {
 public:
  explicit OriginalContract(Workshop workshop) : workshop_(std::move(workshop)) {}

  std::vector<mcp::Tool> Tools(const Setup& setup) const override;
  boost::asio::awaitable<mcp::Answer<mcp::ToolResult>> Run(mcp::Call& call, mcp::ToolCall request,
                                                           std::shared_ptr<const Setup> setup,
                                                           Trace& trace) override;

 private:
  Workshop workshop_;
};

/// Its result for a run.
mcp::ToolResult RenderOriginal(const Finished& finished);

/// What it tells clients about itself when they connect.
std::string OriginalInstructions(const Setup& setup, const std::vector<mcp::Tool>& tools);

}  // namespace igloo::tools
