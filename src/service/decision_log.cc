#include "service/decision_log.h"

#include <utility>

#include "service/places.h"

namespace igloo::service {

std::optional<audit::NetworkLog> OpenNetworkLog(const config::AuditConfig& config, Log::Line say) {
  if (!config.enabled) return std::nullopt;
  auto place = StatePlace();
  if (!place) return std::nullopt;
  return audit::NetworkLog(
      {.directory = *std::move(place), .rotate_bytes = config.rotate_bytes, .keep = config.keep},
      [say = std::move(say)](const Error& error) {
        say("decisions about the network are not written down: " + error.what);
      });
}

}  // namespace igloo::service
