#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string_view>

#include "base/unique_fd.h"
#include "session/set_id_files.h"

namespace igloo::session {

/// Finishes `check` behind a sandbox that was killed, once its igloo-init has ended: `init` is a
/// pidfd of it, if it was started. On a thread of its own, because others cannot wait for a large
/// project to be looked through; whoever destroys the loop waits for it, so no server ends before.
/// `note` hears what was done, from the loop.
void FinishAside(boost::asio::io_context& loop, SetIdCheck check, UniqueFd init,
                 std::function<void(std::string_view)> note);

}  // namespace igloo::session
