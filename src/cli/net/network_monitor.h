#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/log.h"
#include "config/config.h"
#include "service/decision_log.h"
#include "session/run.h"
#include "tools/control_socket.h"

namespace igloo::cli {

/// For runs of a process whose decisions are written down.
service::Runner::Options MonitoredRunner(const backend::Programs& programs,
                                         const config::AuditConfig& config, Log::Line say);

/// Looks after the network of one run: writes its decisions down, and lets 'igloo net allow' reach
/// it from the first of them on. One that decides nothing leaves nothing behind.
class NetworkMonitor {
 public:
  NetworkMonitor(boost::asio::io_context& loop, const config::AuditConfig& audit, Log::Line say);

  /// Hears what is decided in a run with this network, before it is made. Who hears it already goes
  /// on to.
  void Attend(session::RunIo& io);
  /// The run itself, which outlives it.
  void Serve(session::Run& run) { run_ = &run; }

 private:
  void Open();

  boost::asio::io_context& loop_;
  Log::Line say_;
  std::optional<audit::NetworkLog> log_;
  session::Run* run_ = nullptr;
  std::optional<service::SessionControl> control_ = {};
  std::unique_ptr<tools::ControlSocket> socket_ = {};
};

}  // namespace igloo::cli
