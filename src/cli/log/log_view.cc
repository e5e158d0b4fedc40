#include "cli/log/log_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/text.h"
#include "cli/config/settings.h"
#include "config/load.h"
#include "service/places.h"
#include "session/asio.h"
#include "watch/watch.h"

namespace igloo::cli {
namespace {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

void NoteBroken(audit::Broken& broken, Console& console) {
  const audit::Broken told = std::exchange(broken, {});
  if (told.count == 0) return;
  console.Note(fmt::format("{} of the log {} no record{}, ignoring: {}",
                           told.count == 1 ? "one line" : fmt::format("{} lines", told.count),
                           told.count == 1 ? "is" : "are", told.count == 1 ? "" : "s",
                           Printable(told.example)));
}

/// True: there may be more to show.
Result<bool> ShowLast(const audit::Log& log, const LogView& view, Console& console) {
  audit::Broken broken;
  const auto wanted = [&](const std::string& line) -> Result<bool> {
    IGLOO_ASSIGN(const auto text, view.show(line));
    return text.has_value();
  };
  IGLOO_ASSIGN(const auto places,
               log.FindLast({.limit = view.limit, .since = view.since, .wanted = wanted}, broken));
  if (log.empty()) {
    console.Note(view.empty);
  } else if (places.empty() && view.limit > 0) {
    console.Note(view.others);
  }
  NoteBroken(broken, console);
  for (const audit::Log::Place& place : places) {
    IGLOO_ASSIGN(const std::string line, log.Line(place));
    const auto text = view.show(line);
    // Somebody changed the file a moment ago.
    if (!text || !*text) continue;
    if (!console.Out(**text)) return false;
  }
  return true;
}

/// Shows what is appended, until nobody reads it or a signal ends igloo.
class Follower {
 public:
  Follower(asio::io_context& loop, const LogView& view, watch::Watch watch, audit::LogTail tail,
           Console& console)
      : view_(view),
        watch_(std::move(watch)),
        tail_(std::move(tail)),
        console_(console),
        reader_(loop) {}

  asio::awaitable<Result<void>> Run() {
    for (;;) {
      const auto go_on = ShowNew();
      if (!go_on) co_return std::unexpected(go_on.error());
      const bool changed = *go_on && co_await watch_.Changed();
      if (!changed) break;
    }
    boost::system::error_code ignored;
    if (reader_.is_open()) reader_.close(ignored);
    co_return Result<void>();
  }

  /// A reader that goes away while nothing happens would otherwise go unnoticed.
  asio::awaitable<void> WatchReader() {
    struct stat info{};
    if (::fstat(STDOUT_FILENO, &info) != 0 || !S_ISFIFO(info.st_mode)) co_return;
    // Opened anew: watching makes a description non-blocking, and others share the caller's.
    const int own = ::open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (own < 0) co_return;
    reader_.assign(own);
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await reader_.async_wait(stream_descriptor::wait_error, token);
    if (!error) watch_.Close();
  }

 private:
  Result<bool> ShowNew() {
    audit::Broken broken;
    auto go_on = tail_.Read(
        [&](const std::string& line) -> Result<bool> {
          IGLOO_ASSIGN(const auto text, view_.show(line));
          return !text || console_.Out(*text);
        },
        broken);
    NoteBroken(broken, console_);
    return go_on;
  }

  const LogView& view_;
  watch::Watch watch_;
  audit::LogTail tail_;
  Console& console_;
  stream_descriptor reader_;
};

Result<void> Follow(const std::string& directory, const LogView& view, Console& console) {
  asio::io_context loop(1);
  // Before the first look: what is appended in between is shown, too.
  IGLOO_ASSIGN(watch::Watch watch,
               watch::Watch::Make(loop, {{.path = audit::JournalFile(directory, 0, view.file)}}));
  IGLOO_ASSIGN(audit::Log log, audit::Log::Open(directory, view.file));
  IGLOO_ASSIGN(const bool go_on, ShowLast(log, view, console));
  if (!go_on) return {};
  Follower follower(loop, view, std::move(watch), {directory, std::move(log)}, console);
  Result<void> result;
  asio::co_spawn(loop, follower.WatchReader(), asio::detached);
  asio::co_spawn(loop, follower.Run(), [&](const std::exception_ptr&, Result<void> end) {
    result = std::move(end);
    loop.stop();
  });
  loop.run();
  return result;
}

}  // namespace

Result<void> ShowLog(const ParsedArgs& args, const LogView& view, Console& console) {
  const std::string directory = config::StateDirectory(service::ReadVariables());
  if (directory.empty()) {
    return Fail(Errc::kNotFound, "there is no place for a log: HOME is not set",
                "set HOME or XDG_STATE_HOME");
  }
  if (args.Has("--follow")) return Follow(directory, view, console);
  IGLOO_ASSIGN(const audit::Log log, audit::Log::Open(directory, view.file));
  IGLOO_TRY(ShowLast(log, view, console));
  return {};
}

}  // namespace igloo::cli
