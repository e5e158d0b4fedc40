#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mcp/server_core.h"
#include "mcp/service.h"

namespace igloo::mcp::fixture {

/// The tools, resources and prompts that the protocol's conformance suite asks for by name. No
/// program that people use offers them.
class FixtureService : public Service {
 public:
  ServerInfo Info() const override;
  Features Offers() const override;
  std::vector<Tool> Tools() override;
  boost::asio::awaitable<Answer<Outcome<ToolResult>>> Run(Call& call, ToolCall request) override;
  std::vector<Resource> Resources() override;
  std::vector<ResourceTemplate> ResourceTemplates() override;
  boost::asio::awaitable<Answer<Outcome<std::vector<ResourceContents>>>> Read(
      Call& call, ReadResource request) override;
  std::vector<Prompt> Prompts() override;
  boost::asio::awaitable<Answer<Outcome<PromptResult>>> Prepare(Call& call,
                                                                GetPrompt request) override;
  const Method* OwnMethod(std::string_view name) const override;

  /// Some tools cause a change that clients hear of.
  void AnnounceThrough(std::shared_ptr<ServerCore> core) { core_ = core; }

 private:
  std::weak_ptr<ServerCore> core_ = {};
};

/// Waits, but not for a cancelled call.
boost::asio::awaitable<void> Pause(Call& call, std::chrono::milliseconds time);

/// The tools of 2026-07-28 that ask before they answer; empty for a name that is none of them.
struct Asking {
  std::string tool = {};
  JsonObject requests = {};
  bool keeps_state = false;
};
const std::vector<Asking>& AskingTools();
Answer<Outcome<ToolResult>> RunAsking(Call& call, const Asking& tool);

/// The tools of the tasks extension.
const std::map<std::string, Background>& TaskTools();
boost::asio::awaitable<Answer<Outcome<ToolResult>>> RunTask(Call& call, ToolCall request);

}  // namespace igloo::mcp::fixture
