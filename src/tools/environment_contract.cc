#include "tools/environment_contract.h"

#include <algorithm>

#include "base/scope_exit.h"
#include "mcp/pch.h"
#include "tools/ticker.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

/// The run of a call as the configuration completes it.
Result<Order> MakeOrder(const Setup& setup, PreparedCall call) {
  auto variables = std::move(call.request.variables);
  IGLOO_ASSIGN(Order order, setup.OrderFor(call.environment, std::move(call.request)));
  // What the user configured counts before what the contract sets.
  order.request.variables.merge(variables);
  // The contract knows no project, and what its tools say about themselves relies on that.
  order.request.project.reset();
  return order;
}

}  // namespace

const std::vector<EnvironmentTool>& EnvironmentContract::Made(const Setup& setup) const {
  if (made_of_ != &setup) {
    made_ = MakeEnvironmentTools(parts_.scan(), setup.catalogue(), parts_.uncovered);
    made_of_ = &setup;
  }
  return made_;
}

std::vector<mcp::Tool> EnvironmentContract::Tools(const Setup& setup) const {
  // Every state asks for its tools once, and another one may lie where an earlier one lay.
  made_of_ = nullptr;
  std::vector<mcp::Tool> tools;
  for (const EnvironmentTool& tool : Made(setup)) tools.push_back(Describe(tool, parts_.cores));
  return tools;
}

asio::awaitable<mcp::Answer<mcp::ToolResult>> EnvironmentContract::Run(
    mcp::Call& call, mcp::ToolCall request, std::shared_ptr<const Setup> setup, Trace& trace) {
  const auto& made = Made(*setup);
  const auto found = std::ranges::find(made, request.name,
                                       [](const EnvironmentTool& each) { return each.spec.id; });
  if (found == made.end()) {
    co_return mcp::Refuse(mcp::RpcCode::kInvalidParams, "Unknown tool: " + request.name);
  }
  const EnvironmentTool tool = *found;  // a reload while it runs makes others
  trace.environment = tool.environment;
  auto prepared = Prepare(tool, request.arguments);
  if (!prepared) {
    trace.error = prepared.error().message;
    co_return std::unexpected(std::move(prepared).error());
  }
  if (auto* answer = std::get_if<mcp::ToolResult>(&*prepared)) {
    trace.error = tool.unavailable->what;
    co_return std::move(*answer);
  }
  auto& prepared_call = std::get<PreparedCall>(*prepared);
  trace.code = prepared_call.request.files.front().content;
  auto order = MakeOrder(*setup, std::move(prepared_call));
  if (!order) {
    trace.error = order.error().what;
    co_return RenderRefusal(order.error());
  }
  const auto ticker = Ticker::Start(call, co_await asio::this_coro::executor);
  const ScopeExit stop([&] { ticker->Stop(); });
  Order now = *std::move(order);
  auto heard = [ticker](std::string_view bytes) { ticker->Hear(bytes); };
  auto finished =
      co_await workshop_.runner.Execute(std::move(now), call.cancellation(), std::move(heard));
  if (!finished) {
    trace.verdict = "failed";
    trace.error = finished.error().what;
    co_return RenderRefusal(finished.error());
  }
  Remember(*finished, trace);
  co_return Render(tool, finished->run);
}

}  // namespace igloo::tools
