#pragma once

#include <string_view>

#include "http/address.h"

namespace igloo::http {

/// Whether `authority` (`localhost:80`, `[::1]`) is one of a server's own names, whatever the port.
bool HostAllowed(std::string_view authority, const OwnNames& own);
/// Whether a page of `origin` may speak to this server: only one that came from its own name and
/// port. SECURITY: a browser sends it for every page; without the check any web site could run code
/// here (DNS rebinding), and so could whatever else serves pages on this machine.
bool OriginAllowed(std::string_view origin, const OwnNames& own);
/// SECURITY: all else a browser sends for a page without asking the server first.
bool IsJson(std::string_view content_type);

}  // namespace igloo::http
