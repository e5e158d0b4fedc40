#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "mcp/service.h"
#include "service/live_setup.h"
#include "tools/contract.h"

namespace igloo::tools {

/// What a server says it is. The instructions follow the live configuration.
struct Face {
  mcp::ServerInfo info = {};
  /// There are no prompts, but clients ask; an empty list tells them better than an error.
  mcp::Features features = {
      .tools = true, .resources = true, .prompts = true, .logging = true, .tasks = true};
  /// For the tools that are really served.
  std::function<std::string(const service::Setup&, const std::vector<mcp::Tool>&)> instructions =
      {};
};

/// Serves the tools of its contracts over the configuration as it is now.
class ToolService : public mcp::Service {
 public:
  using Observe = std::function<void(const service::Trace&)>;

  struct Parts {
    Face face = {};
    std::vector<std::unique_ptr<Contract>> contracts = {};
    service::Sessions* sessions = nullptr;  ///< whose files can be read; null: none
    Observe observe = {};                   ///< called once for every call of a tool
    std::function<void()> kept = {};        ///< a run left something that can be read now
    Log::Line note = {};                    ///< something that its user should know
  };

  ToolService(Parts parts, service::LiveSetup& setup, service::OutputStore& store)
      : parts_(std::move(parts)), setup_(setup), store_(store) {}

  mcp::ServerInfo Info() const override;
  mcp::Features Offers() const override;
  std::vector<mcp::Tool> Tools() override;
  boost::asio::awaitable<mcp::Answer<mcp::Outcome<mcp::ToolResult>>> Run(
      mcp::Call& call, mcp::ToolCall request) override;
  std::vector<mcp::Resource> Resources() override;
  std::vector<mcp::ResourceTemplate> ResourceTemplates() override;
  boost::asio::awaitable<mcp::Answer<mcp::Outcome<std::vector<mcp::ResourceContents>>>> Read(
      mcp::Call& call, mcp::ReadResource request) override;

  /// Serves the setup that counts now. Says whether clients see other tools.
  bool Refresh();

 private:
  /// One state of the configuration and the tools made of it.
  struct Served {
    std::shared_ptr<const service::Setup> setup = {};  // shared with the calls under way
    std::vector<mcp::Tool> tools = {};
    std::vector<std::size_t> owners = {};  ///< which contract each of them belongs to
    std::string instructions = {};
    std::optional<Error> broken = {};  ///< why there is no configuration at all
  };
  Served Make() const;
  /// Another number whenever there are other resources.
  std::uint64_t Generation() const;
  /// Loads at the first need.
  const Served& Now() const;

  Parts parts_;
  service::LiveSetup& setup_;
  service::OutputStore& store_;
  mutable std::optional<Served> served_ = {};
};

}  // namespace igloo::tools
