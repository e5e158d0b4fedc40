#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "session/box.h"
#include "session/files/set_id_files.h"

namespace igloo::session {

/// What a check said, a sentence each.
using Checked = std::function<void(std::vector<std::string> said)>;

/// Kills what is left of the sandbox in `box` and finishes `check` once its igloo-init has ended:
/// the last process could change a file behind the check otherwise. On a thread of its own, because
/// others cannot wait for a large project to be looked through; on a loop that is stopped, before
/// it returns. Whoever destroys the loop waits for it, so no server ends before. `done` is called
/// on the loop's thread, unless the loop is destroyed first.
void FinishAside(boost::asio::io_context& loop, SetIdCheck check, Box& box, Checked done);

/// Passes each sentence on to `note`, which may be empty.
Checked NoteEach(Log::Line note);

}  // namespace igloo::session
