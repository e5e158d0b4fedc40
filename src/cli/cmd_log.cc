#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "audit/journal.h"
#include "audit/log.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/log_output.h"
#include "cli/log_query.h"
#include "cli/settings.h"
#include "config/load.h"
#include "session/asio.h"
#include "watch/watch.h"

namespace igloo::cli {
namespace {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

enum class Form { kText, kJson };

/// What is shown, and how.
struct View {
  std::string directory = {};
  LogQuery query = {};
  Form form = Form::kText;
};

/// False when nobody reads any more.
bool Show(const std::string& line, const audit::Record& record, const View& view,
          Console& console) {
  // As it was written: a later igloo may have put more into it.
  return console.Out(view.form == Form::kJson ? line + "\n" : LogLine(record, console));
}

void NoteBroken(audit::Broken& broken, Console& console) {
  const audit::Broken told = std::exchange(broken, {});
  if (told.count == 0) return;
  console.Note(fmt::format("{} of the log {} no record{}, ignoring: {}",
                           told.count == 1 ? "one line" : fmt::format("{} lines", told.count),
                           told.count == 1 ? "is" : "are", told.count == 1 ? "" : "s",
                           Printable(told.example)));
}

/// True: there may be more to show.
Result<bool> ShowLast(const audit::Log& log, const View& view, Console& console) {
  audit::Broken broken;
  const audit::Log::Query query{
      .limit = view.query.limit,
      .since = view.query.since,
      .wanted = [&](const audit::Record& record) { return view.query.Wants(record); }};
  IGLOO_ASSIGN(const auto places, log.FindLast(query, broken));
  if (log.empty()) {
    console.Note(
        "there is no log of calls yet: the MCP server begins one at the first call of a "
        "tool, unless audit.enabled is false");
  } else if (places.empty() && view.query.limit > 0) {
    console.Note("no call in the log is as asked for");
  }
  NoteBroken(broken, console);
  for (const audit::Log::Place& place : places) {
    IGLOO_ASSIGN(const std::string line, log.Line(place));
    const auto record = audit::Decode(line);
    // Somebody changed the file a moment ago.
    if (!record) continue;
    if (!Show(line, *record, view, console)) return false;
  }
  return true;
}

/// Shows what is appended, until nobody reads it or a signal ends igloo.
class Follower {
 public:
  Follower(asio::io_context& loop, const View& view, watch::Watch watch, audit::LogTail tail,
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
        [&](const std::string& line, const audit::Record& record) {
          return !view_.query.Wants(record) || Show(line, record, view_, console_);
        },
        broken);
    NoteBroken(broken, console_);
    return go_on;
  }

  const View& view_;
  watch::Watch watch_;
  audit::LogTail tail_;
  Console& console_;
  stream_descriptor reader_;
};

Result<void> Follow(const View& view, Console& console) {
  asio::io_context loop(1);
  // Before the first look: what is appended in between is shown, too.
  IGLOO_ASSIGN(watch::Watch watch,
               watch::Watch::Make(loop, {{.path = audit::JournalFile(view.directory)}}));
  IGLOO_ASSIGN(audit::Log log, audit::Log::Open(view.directory));
  IGLOO_ASSIGN(const bool go_on, ShowLast(log, view, console));
  if (!go_on) return {};
  Follower follower(loop, view, std::move(watch), {view.directory, std::move(log)}, console);
  Result<void> result;
  asio::co_spawn(loop, follower.WatchReader(), asio::detached);
  asio::co_spawn(loop, follower.Run(), [&](const std::exception_ptr&, Result<void> end) {
    result = std::move(end);
    loop.stop();
  });
  loop.run();
  return result;
}

Result<int> RunLog(const ParsedArgs& args, Console& console) {
  if (!args.words.empty() || args.rest) {
    return Fail(Errc::kInvalidArgument,
                "'igloo log' does not understand '" +
                    Printable(args.words.empty() ? "--" : args.words[0]) + "'",
                "see 'igloo log --help'");
  }
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  View view{.directory = config::StateDirectory(ReadVariables()),
            .form = args.Has("--json") ? Form::kJson : Form::kText};
  IGLOO_ASSIGN(view.query, ReadLogQuery(args, now));
  if (view.directory.empty()) {
    return Fail(Errc::kNotFound, "there is no place for a log: HOME is not set",
                "set HOME or XDG_STATE_HOME");
  }
  if (args.Has("--follow")) {
    IGLOO_TRY(Follow(view, console));
    return 0;
  }
  IGLOO_ASSIGN(const audit::Log log, audit::Log::Open(view.directory));
  IGLOO_TRY(ShowLast(log, view, console));
  return 0;
}

constexpr Flag kFlags[] = {
    {"--follow", "", "go on showing calls as they end, until Ctrl-C"},
    {"--env", "NAME", "only calls for this environment", Values::kEnvironment},
    {"--client", "NAME", "only calls of this client, of any version"},
    {"--verdict", "VERDICT", "only calls that ended like this: ok, exit, timeout, ...",
     Values::kChoices, kLoggedVerdicts},
    {"--since", "TIME", "only calls since then: 15m, 2h, 3d, 2026-01-31, '2026-01-31 12:00'"},
    {"--limit", "N", "the last N of them (20)"},
    {"--json", "", "print the records as they are, one JSON document in each line"},
};

}  // namespace

const Command kLogCommand = {
    .name = "log",
    .summary = "show what clients of the MCP server ran",
    .usage = "[OPTIONS]",
    .flags = kFlags,
    .words = {},
    .details =
        "One line per call: when it came, how it ended, environment, time, memory, the beginning\n"
        "of the code's SHA-256, tool, client. The newest comes last. The code itself is kept only\n"
        "with audit.code = true. The log is runs.jsonl in igloo's directory in XDG_STATE_HOME or\n"
        "~/.local/state; clients name themselves, so their names prove nothing.\n\n"
        "Examples:\n"
        "  igloo log --follow\n"
        "  igloo log --since 2h --verdict timeout\n"
        "  igloo log --json --limit 1000 | jq .duration_ms\n",
    .run = RunLog,
};

}  // namespace igloo::cli
