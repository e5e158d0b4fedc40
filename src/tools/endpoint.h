#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "mcp/server_core.h"
#include "service/application.h"
#include "tools/tool_service.h"

namespace igloo::tools {

/// Where the MCP clients of one principal connect: the contracts over what the application has for
/// it.
class Endpoint {
 public:
  using Contracts = std::function<std::vector<std::unique_ptr<Contract>>(Workshop)>;

  /// `application` and `principal` outlive it.
  Endpoint(service::Application& application, service::Principal& principal, Face face,
           const Contracts& contracts, Log::Line note);

  /// Not kept: a core ends before the event loop, this after it.
  std::shared_ptr<mcp::ServerCore> MakeCore(boost::asio::io_context& loop);
  /// Serves the setup that counts now, and tells clients when they see other tools.
  void Refresh();

 private:
  std::unique_ptr<ToolService> service_ = {};
  std::weak_ptr<mcp::ServerCore> core_ = {};
};

}  // namespace igloo::tools
