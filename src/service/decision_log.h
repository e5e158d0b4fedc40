#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "audit/network_log.h"
#include "base/log.h"
#include "config/config.h"

namespace igloo::service {

/// A log of decisions as the configuration wants it; none where it wants none, or has no place.
std::optional<audit::NetworkLog> OpenNetworkLog(const config::AuditConfig& config, Log::Line say);

}  // namespace igloo::service
