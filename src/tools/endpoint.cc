#include "tools/endpoint.h"

#include <utility>

#include "mcp/pch.h"

namespace igloo::tools {

Endpoint::Endpoint(service::Application& application, service::Principal& principal, Face face,
                   const Contracts& contracts, Log::Line note) {
  ToolService::Parts parts{
      .face = std::move(face),
      .contracts = contracts(
          {application.runner(), principal.sessions(), principal.outputs(), application.making()}),
      .sessions = &principal.sessions(),
      .observe = [&application, &principal](
                     const service::Trace& trace) { application.Record(principal.owner(), trace); },
      .kept =
          [this] {
            if (const auto core = core_.lock()) core->Announce(mcp::change::Resources{});
          },
      .note = std::move(note)};
  service_ =
      std::make_unique<ToolService>(std::move(parts), application.setup(), principal.outputs());
}

std::shared_ptr<mcp::ServerCore> Endpoint::MakeCore(boost::asio::io_context& loop) {
  auto core = std::make_shared<mcp::ServerCore>(loop.get_executor(), *service_,
                                                mcp::ServerOptions{.most_calls = 2048});
  core_ = core;
  return core;
}

void Endpoint::Refresh() {
  if (!service_->Refresh()) return;
  if (const auto core = core_.lock()) core->Announce(mcp::change::Tools{});
}

}  // namespace igloo::tools
