#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "sandbox/policy.h"

namespace igloo::environment {

/// What sandboxes that reach everything get for programs that know no proxy, on this machine as it
/// is now: closed ranges and this machine's own addresses are closed. `resolver` is what the
/// configuration says of it ("9.9.9.9, 1.1.1.1"); empty: this machine's. An error says what is
/// missing; the proxy is there without it. What `rules` deny is closed, too; a device knows only
/// addresses, so there is none if they deny a name or a single port.
Result<sandbox::Device> FindDevice(std::string_view resolver,
                                   const std::vector<std::string>& rules = {});

/// Whom a sandbox asks for names: the first of `configured`, or else of the host's `resolv_conf`,
/// that its device leads to. The host's own that are closed are asked by the carrier.
std::string ResolverFor(std::string_view configured, std::string_view resolv_conf,
                        const std::vector<std::string>& closed);

}  // namespace igloo::environment
