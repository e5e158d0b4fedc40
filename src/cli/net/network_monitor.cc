#include "cli/net/network_monitor.h"

#include "cli/config/settings.h"
#include "service/decision_log.h"
#include "service/places.h"
#include "service/programs.h"

namespace igloo::cli {

service::Runner::Options MonitoredRunner(const backend::Programs& programs,
                                         const config::AuditConfig& config, Log::Line say) {
  service::Runner::Options options{.note = say, .proxy = service::ProxyFor(programs)};
  const auto log = std::make_shared<std::optional<audit::NetworkLog>>(
      service::OpenNetworkLog(config, std::move(say)));
  options.proxy.record = [log](const network::Record& record) {
    if (*log) (*log)->Add(record);
  };
  return options;
}

NetworkMonitor::NetworkMonitor(boost::asio::io_context& loop, const config::AuditConfig& audit,
                               Log::Line say)
    : loop_(loop), say_(std::move(say)), log_(service::OpenNetworkLog(audit, say_)) {}

void NetworkMonitor::Attend(session::RunIo& io) {
  if (!io.network || !io.network->wanted.connected()) return;
  io.network->proxy.record =
      [this, other = std::move(io.network->proxy.record)](const network::Record& record) {
        if (log_) log_->Add(record);
        if (other) other(record);
        Open();
      };
}

void NetworkMonitor::Open() {
  if (control_ || run_ == nullptr || run_->proxy() == nullptr) return;
  control_.emplace(service::AllowIn(*run_->proxy()));
  const auto place = service::StatePlace();
  if (!place) return;
  auto opened = tools::ControlSocket::Open(loop_, *place, *control_);
  if (opened) {
    socket_ = *std::move(opened);
  } else {
    say_("'igloo net allow' does not reach this run: " + opened.error().what);
  }
}

}  // namespace igloo::cli
