#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mcp/server_core.h"
#include "tools/runner.h"
#include "tools/service.h"
#include "tools/sessions.h"
#include "tools/store.h"

namespace igloo::cli {

/// What a server has for one principal alone: sessions, kept output, and the service over both. The
/// runner below is shared. SECURITY: nothing here knows another principal, so no name, URI or id of
/// one leads to what another has.
class Principal {
 public:
  using Contracts = std::function<std::vector<std::unique_ptr<tools::Contract>>(tools::Workshop)>;

  struct Parts {
    tools::Owner owner = {};
    tools::Face face = {};
    Contracts contracts = {};
    tools::Making making = {};
    tools::ToolService::Load load = {};
    tools::ToolService::Observe observe = {};
    std::function<void(std::string_view)> note = {};
  };
  /// `loop` and `runner` outlive it.
  Principal(boost::asio::io_context& loop, tools::Runner& runner, Parts parts);

  tools::Sessions& sessions() { return *sessions_; }
  tools::ToolService& service() { return *service_; }

  /// Where its clients connect. Not kept: a core ends before the event loop, this after it.
  std::shared_ptr<mcp::ServerCore> MakeCore(boost::asio::io_context& loop);

 private:
  tools::Store store_ = {};
  std::unique_ptr<tools::Sessions> sessions_ = {};
  std::unique_ptr<tools::ToolService> service_ = {};
  std::weak_ptr<mcp::ServerCore> core_ = {};
};

}  // namespace igloo::cli
