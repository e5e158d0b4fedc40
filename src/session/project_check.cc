#include "session/project_check.h"

#include <poll.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "base/file.h"

namespace igloo::session {
namespace {

using boost::asio::posix::stream_descriptor;

/// A killed sandbox ends at once; one whose processes the kernel holds must not hold igloo.
constexpr int kPatienceMs = 2'000;

struct Work {
  SetIdCheck check;
  UniqueFd init;
  std::vector<std::string> said = {};
  std::thread thread = {};

  ~Work() {
    if (thread.joinable()) thread.join();
  }

  void Do() {
    // The last process could change a file behind the check otherwise.
    if (init) {
      pollfd end{init.get(), POLLIN, 0};
      (void)::poll(&end, 1, kPatienceMs);
    }
    said = check.Finish();
  }
};

}  // namespace

void FinishAside(boost::asio::io_context& loop, SetIdCheck check, UniqueFd init,
                 std::function<void(std::string_view)> note) {
  const auto work = std::make_shared<Work>(std::move(check), std::move(init));
  const auto tell = [work, note = std::move(note)] {
    for (const std::string& each : work->said) {
      if (note) note(each);
    }
  };
  auto pipe = MakePipe();
  bool aside = pipe.has_value();
  try {
    if (aside) {
      work->thread = std::thread([work = work.get(), end = std::move(pipe->second)] {
        work->Do();
        (void)!::write(end.get(), "x", 1);
      });
    }
  } catch (const std::system_error&) {
    aside = false;  // too many threads: it is done all the same
  }
  if (!aside) {
    work->Do();
    return tell();
  }
  const auto over = std::make_shared<stream_descriptor>(loop, pipe->first.Release());
  over->async_wait(stream_descriptor::wait_read,
                   [over, work, tell](const boost::system::error_code& error) {
                     work->thread.join();
                     if (!error) tell();
                   });
}

}  // namespace igloo::session
