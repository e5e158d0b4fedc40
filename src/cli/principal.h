#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mcp/server_core.h"
#include "service/output_store.h"
#include "service/runner.h"
#include "service/sessions.h"
#include "tools/tool_service.h"

namespace igloo::cli {

/// What a server has for one principal alone: sessions, kept output, and the service over both. The
/// runner below is shared. SECURITY: nothing here knows another principal, so no name, URI or id of
/// one leads to what another has.
class Principal {
 public:
  using Contracts = std::function<std::vector<std::unique_ptr<tools::Contract>>(tools::Workshop)>;

  struct Parts {
    service::Owner owner = {};
    tools::Face face = {};
    Contracts contracts = {};
    service::Making making = {};
    tools::ToolService::Load load = {};
    tools::ToolService::Observe observe = {};
    std::function<void(std::string_view)> note = {};
  };
  /// `loop` and `runner` outlive it.
  Principal(boost::asio::io_context& loop, service::Runner& runner, Parts parts);

  service::Sessions& sessions() { return *sessions_; }
  tools::ToolService& service() { return *service_; }

  /// Where its clients connect. Not kept: a core ends before the event loop, this after it.
  std::shared_ptr<mcp::ServerCore> MakeCore(boost::asio::io_context& loop);

 private:
  service::OutputStore store_ = {};
  std::unique_ptr<service::Sessions> sessions_ = {};
  std::unique_ptr<tools::ToolService> service_ = {};
  std::weak_ptr<mcp::ServerCore> core_ = {};
};

}  // namespace igloo::cli
