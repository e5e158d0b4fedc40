#pragma once

#include "tools/contract.h"

namespace igloo::tools {

/// Its tools: environments that can change nothing outside, and the others.
inline constexpr std::string_view kRun = "run", kConnected = "run_connected";

/// igloo's own tools: `run`, and `run_connected` for environments that can do more than compute.
/// Two, because a client's trust is given to a tool as a whole.
class RunContract : public Contract {
 public:
  explicit RunContract(Workshop workshop) : workshop_(std::move(workshop)) {}

  std::vector<mcp::Tool> Tools(const service::Setup& setup) const override;
  boost::asio::awaitable<mcp::Answer<mcp::ToolResult>> Run(
      mcp::Call& call, mcp::ToolCall request, std::shared_ptr<const service::Setup> setup,
      service::Trace& trace) override;

 private:
  Workshop workshop_;
};

}  // namespace igloo::tools
