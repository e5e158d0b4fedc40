#include "tools/per_environment_contract.h"

#include <algorithm>
#include <thread>

#include "base/text.h"
#include "mcp/pch.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

/// The code of a call, for its record: the file that the sandbox is started with.
std::string CodeOf(const environment::RunRequest& request) {
  return request.files.empty() ? "" : request.files.front().content;
}

}  // namespace

std::vector<mcp::Tool> PerEnvironmentContract::Tools(const service::Setup& setup) const {
  std::vector<mcp::Tool> tools;
  for (const EnvironmentTool& each :
       MakeEnvironmentTools(setup.sandboxes(), setup.catalogue(), uncovered_)) {
    const service::Offered* offered = setup.Find(each.environment);
    const bool limits_cpus = cgroup::WhyNoCpus(workshop_.runner.cgroups()).empty();
    const auto held = offered != nullptr && limits_cpus ? offered->limits.millicpus : 0;
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    tools.push_back(Describe(
        each,
        {.cores = held == 0 ? cores : std::min(cores, static_cast<unsigned>((held + 999) / 1000)),
         .limits_cpus = limits_cpus,
         .rights = offered != nullptr ? offered->rights : service::Rights{}}));
  }
  return tools;
}

PerEnvironmentContract::All PerEnvironmentContract::ToolsOf(
    const std::shared_ptr<const service::Setup>& setup) {
  if (setup_ != setup) {
    tools_ = std::make_shared<const std::vector<EnvironmentTool>>(
        MakeEnvironmentTools(setup->sandboxes(), setup->catalogue(), uncovered_));
    setup_ = setup;
  }
  return tools_;
}

asio::awaitable<mcp::Answer<mcp::ToolResult>> PerEnvironmentContract::Run(
    mcp::Call& call, mcp::ToolCall request, std::shared_ptr<const service::Setup> setup,
    service::Trace& trace) {
  const All all = ToolsOf(setup);
  const auto id = [](const EnvironmentTool& each) -> const std::string& { return each.spec.id; };
  const auto tool = std::ranges::find(*all, request.name, id);
  if (tool == all->end()) {
    co_return mcp::Refuse(mcp::RpcCode::kInvalidParams, "Unknown tool: " + Quoted(request.name));
  }
  trace.environment = tool->environment;
  auto prepared = Prepare(*tool, request.arguments);
  if (!prepared) {
    trace.error = prepared.error().message;
    co_return std::unexpected(std::move(prepared).error());
  }
  if (auto* said = std::get_if<mcp::ToolResult>(&*prepared)) {
    if (tool->unavailable) trace.error = tool->unavailable->what;
    co_return std::move(*said);
  }
  auto& ready = std::get<PreparedCall>(*prepared);
  trace.code = CodeOf(ready.request);
  const auto fail = [&](const Error& error) {
    trace.verdict = "failed";
    trace.error = error.what;
    return RenderRefusal(error);
  };
  co_await AwaitSecrets(workshop_, call, setup, ready.environment);
  auto order =
      setup->OrderFor(workshop_.sessions.owner(), ready.environment, std::move(ready.request));
  if (!order) co_return fail(order.error());
  service::Order now = *std::move(order);
  // What the sandbox's own file says counts: its description promises it.
  if (!HasNetwork(tool->spec)) {
    now.request.network = {.principal = std::move(now.request.network.principal)};
  }
  auto finished = co_await Execute(workshop_, call, std::move(now), trace);
  if (!finished) co_return RenderRefusal(finished.error());
  co_return Render(*tool, finished->run);
}

}  // namespace igloo::tools
