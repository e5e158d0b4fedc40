#include "cli/principal.h"

namespace igloo::cli {

Principal::Principal(boost::asio::io_context& loop, service::Runner& runner, Parts parts) {
  const std::string label = parts.owner.principal;
  sessions_ = std::make_unique<service::Sessions>(loop, runner, service::SessionLimits{},
                                                  std::move(parts.owner));
  tools::ToolService::Parts service{
      .face = std::move(parts.face),
      .contracts = parts.contracts({runner, *sessions_, store_, std::move(parts.making)}),
      .load = std::move(parts.load),
      .sessions = sessions_.get(),
      .observe =
          [label, observe = std::move(parts.observe)](const service::Trace& trace) {
            if (label.empty()) return observe(trace);
            service::Trace named = trace;
            // What the client calls itself comes second: the label is what its token proves.
            named.client = label + "/" + named.client;
            observe(named);
          },
      .kept =
          [this] {
            if (const auto core = core_.lock()) core->Announce(mcp::change::Resources{});
          },
      .note = std::move(parts.note)};
  service_ = std::make_unique<tools::ToolService>(std::move(service), store_);
}

std::shared_ptr<mcp::ServerCore> Principal::MakeCore(boost::asio::io_context& loop) {
  auto core = std::make_shared<mcp::ServerCore>(loop.get_executor(), *service_,
                                                mcp::ServerOptions{.most_calls = 2048});
  core_ = core;
  return core;
}

}  // namespace igloo::cli
