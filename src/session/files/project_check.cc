#include "session/files/project_check.h"

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
    pollfd end{init.get(), POLLIN, 0};
    const bool ended = !init || ::poll(&end, 1, kPatienceMs) == 1;
    said = check.Finish();
    if (ended) return;
    said.emplace_back(
        "the sandbox had not ended when its project was looked at: 'find -perm /6000' shows "
        "whether any file is set-uid");
  }
};

/// What tells the end of a sandbox that was killed; none: it was not started, or its wall cannot
/// tell.
UniqueFd KillInit(Box& box) {
  if (!box.started()) return {};
  backend::Sandbox& sandbox = box.sandbox();
  // It may have come and not been taken yet.
  if (sandbox.setup_fd() >= 0) (void)sandbox.ReadSetup();
  UniqueFd end = sandbox.WhenEnded();
  sandbox.Kill();
  return end;
}

/// Begins the work; a descriptor that tells its end. None: there is no thread to be had.
UniqueFd StartThread(Work& work) {
  auto pipe = MakePipe();
  if (!pipe) return {};
  try {
    work.thread = std::thread([&work, end = std::move(pipe->second)] {
      work.Do();
      (void)!::write(end.get(), "x", 1);
    });
  } catch (const std::system_error&) {
    return {};  // too many threads
  }
  return std::move(pipe->first);
}

}  // namespace

void FinishAside(boost::asio::io_context& loop, SetIdCheck check, Box& box, Checked done) {
  const auto work = std::make_shared<Work>(std::move(check), KillInit(box));
  // One that is stopped is likely being destroyed: nothing may wait on it any more.
  UniqueFd end = loop.stopped() ? UniqueFd() : StartThread(*work);
  if (!end) {
    work->Do();
    return done(std::move(work->said));
  }
  const auto over = std::make_shared<stream_descriptor>(loop, end.Release());
  over->async_wait(stream_descriptor::wait_read,
                   [over, work, done = std::move(done)](const boost::system::error_code& error) {
                     work->thread.join();
                     if (!error) done(std::move(work->said));
                   });
}

Checked NoteEach(Log::Line note) {
  return [note = std::move(note)](const std::vector<std::string>& said) {
    if (!note) return;
    for (const std::string& each : said) note(each);
  };
}

}  // namespace igloo::session
