#include "tools/tool_service.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error_text.h"
#include "base/text.h"
#include "mcp/pch.h"
#include "tools/resources.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

std::string WhyBroken(const Error& error) {
  return "igloo cannot run anything with its configuration: " + InOneLine(error);
}

}  // namespace

ToolService::Served ToolService::Make() const {
  const auto& current = setup_.Current();
  Served served{.setup = current ? *current : service::Setup::Nothing()};
  for (std::size_t i = 0; i < parts_.contracts.size(); ++i) {
    for (mcp::Tool& tool : parts_.contracts[i]->Tools(*served.setup)) {
      // Of one name the first counts: a user's sandbox may be called 'run', too.
      if (std::ranges::find(served.tools, tool.name, &mcp::Tool::name) != served.tools.end()) {
        if (parts_.note) {
          parts_.note("two tools have the name '" + tool.name +
                      "', and only igloo's own is served; give the sandbox another id");
        }
        continue;
      }
      served.tools.push_back(std::move(tool));
      served.owners.push_back(i);
    }
  }
  if (current) {
    served.instructions = parts_.face.instructions(*served.setup, served.tools);
  } else {
    // Nothing can be run, and whoever asks is told why; the file may be mended meanwhile.
    served.broken = current.error();
    served.instructions = WhyBroken(*served.broken);
  }
  return served;
}

const ToolService::Served& ToolService::Now() const {
  if (!served_) served_ = Make();
  return *served_;
}

bool ToolService::Refresh() {
  Served fresh = Make();
  const auto same = [](const mcp::Tool& a, const mcp::Tool& b) {
    return a.name == b.name && a.title == b.title && a.description == b.description &&
           a.input_schema == b.input_schema && a.output_schema == b.output_schema &&
           a.hints == b.hints && a.background == b.background && a.meta == b.meta;
  };
  const bool changed =
      !served_ || served_->broken || !std::ranges::equal(served_->tools, fresh.tools, same);
  served_ = std::move(fresh);
  return changed;
}

mcp::ServerInfo ToolService::Info() const {
  mcp::ServerInfo info = parts_.face.info;
  info.instructions = Now().instructions;
  return info;
}

mcp::Features ToolService::Offers() const { return parts_.face.features; }

std::vector<mcp::Tool> ToolService::Tools() { return Now().tools; }

std::uint64_t ToolService::Generation() const {
  return store_.generation() + (parts_.sessions != nullptr ? parts_.sessions->generation() : 0);
}

std::vector<mcp::Resource> ToolService::Resources() {
  std::vector<mcp::Resource> list;
  for (service::Resource& each : store_.List()) list.push_back(ResourceOf(std::move(each)));
  if (parts_.sessions == nullptr) return list;
  for (service::Resource& each : parts_.sessions->Files()) {
    list.push_back(ResourceOf(std::move(each)));
  }
  return list;
}

std::vector<mcp::ResourceTemplate> ToolService::ResourceTemplates() {
  std::vector<mcp::ResourceTemplate> templates = {
      {.uri_template = "igloo://run/{run}/{+name}",
       .name = "run",
       .title = "What a run left behind",
       .description = "Output that was cut in a result (stdout, stderr) and files "
                      "(files/PATH); results name them."}};
  if (parts_.sessions != nullptr) {
    templates.push_back({.uri_template = "igloo://session/{session}/{+path}",
                         .name = "session",
                         .title = "A file of a session",
                         .description = "As it is now; path is relative to /workspace."});
  }
  return templates;
}

asio::awaitable<mcp::Answer<mcp::Outcome<mcp::ToolResult>>> ToolService::Run(
    mcp::Call& call, mcp::ToolCall request) {
  // INVARIANT: a reload must not pull the configuration away from under a call.
  const auto setup = Now().setup;
  const auto tool = std::ranges::find(served_->tools, request.name, &mcp::Tool::name);
  if (tool == served_->tools.end()) {
    co_return mcp::Refuse(mcp::RpcCode::kInvalidParams, "Unknown tool: " + Quoted(request.name));
  }
  const auto index = static_cast<std::size_t>(tool - served_->tools.begin());
  Contract& contract = *parts_.contracts[served_->owners[index]];
  if (served_->broken) {
    co_return mcp::Outcome<mcp::ToolResult>(mcp::ToolFailure(WhyBroken(*served_->broken)));
  }
  service::Trace trace{.came = std::chrono::system_clock::now(),
                       .tool = request.name,
                       .client = call.facts().client_name};
  const std::uint64_t before = Generation();
  auto answer = co_await contract.Run(call, std::move(request), setup, trace);
  if (call.cancellation().requested()) trace.verdict = "cancelled";
  if (parts_.observe) parts_.observe(trace);
  if (Generation() != before && parts_.kept) parts_.kept();
  if (!answer) co_return std::unexpected(std::move(answer).error());
  co_return mcp::Outcome<mcp::ToolResult>(*std::move(answer));
}

asio::awaitable<mcp::Answer<mcp::Outcome<std::vector<mcp::ResourceContents>>>> ToolService::Read(
    mcp::Call&, mcp::ReadResource request) {
  auto contents = store_.Read(request.uri);
  const auto file = service::ReadSessionUri(request.uri);
  if (file && parts_.sessions != nullptr) {
    auto read = parts_.sessions->Read(*file);
    if (!read && read.error().code != Errc::kNotFound) {
      co_return mcp::Refuse(mcp::RpcCode::kInvalidParams, InOneLine(read.error()));
    }
    if (read) contents = *std::move(read);
  }
  if (!contents) co_return mcp::ResourceNotFound(request.uri);
  std::vector<mcp::ResourceContents> all;
  all.push_back(ContentsOf(*std::move(contents)));
  co_return mcp::Outcome<std::vector<mcp::ResourceContents>>(std::move(all));
}

}  // namespace igloo::tools
