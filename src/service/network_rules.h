#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>

#include "base/error.h"
#include "session/network/proxy.h"

namespace igloo::service {

/// How long a rule counts that somebody adds to a living sandbox.
enum class Lasting {
  kOnce,     ///< for one connection
  kSession,  ///< while the sandbox lives
};

/// Lets a living sandbox reach more. What is said to whoever asked for it, or why it cannot be; an
/// unknown sandbox is kNotFound.
using AllowRule = std::function<boost::asio::awaitable<Result<std::string>>(
    std::string sandbox, std::string rule, Lasting lasting)>;
/// In this process's own sandboxes; `proxy` outlives it.
AllowRule AllowIn(session::Proxy& proxy);

}  // namespace igloo::service
