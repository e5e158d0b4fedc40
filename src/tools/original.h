#pragma once

#include "tools/arguments.h"
#include "tools/contract.h"

namespace igloo::tools {

/// The tool `run` as nix-sandbox-mcp served it, to the letter: its texts, its protocol errors, its
/// limit on output, no structured half.
class OriginalContract : public Contract {
 public:
  explicit OriginalContract(Workshop workshop) : workshop_(std::move(workshop)) {}

  std::vector<mcp::Tool> Tools(const service::Setup& setup) const override;
  boost::asio::awaitable<mcp::Answer<mcp::ToolResult>> Run(
      mcp::Call& call, mcp::ToolCall request, std::shared_ptr<const service::Setup> setup,
      service::Trace& trace) override;

 private:
  boost::asio::awaitable<mcp::Answer<mcp::ToolResult>> RunInSession(
      mcp::Call& call, RunArguments arguments, const service::Offered& offered,
      std::shared_ptr<const service::Setup> setup, service::Trace& trace);

  Workshop workshop_;
};

/// Its result for a run.
mcp::ToolResult RenderOriginal(const service::Finished& finished);

/// Why a call in a session had no result, in the words of the program that had an agent for each.
enum class SessionBefore { kNew, kLived };
enum class SessionAfter { kGone, kLives };
std::string OriginalSessionFailure(const Error& error, const std::string& environment,
                                   SessionBefore before, SessionAfter after);

/// What it tells clients about itself when they connect.
std::string OriginalInstructions(const service::Setup& setup, const std::vector<mcp::Tool>& tools);

}  // namespace igloo::tools
