#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/session/repl.h"
#include "cli/session/session_servers.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;

/// "7 s", "12 min", "3 h".
std::string Ago(std::int64_t milliseconds) {
  const std::int64_t seconds = milliseconds / 1000;
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h", seconds / 3600);
}

void ListText(const std::vector<FoundSession>& sessions, Console& console) {
  if (sessions.empty()) {
    console.Note("there are no sessions: a client of the MCP server begins them");
    return;
  }
  constexpr std::size_t kShown = 40;
  std::size_t width = 7;
  for (const FoundSession& each : sessions) {
    width = std::max(width, std::min(Printable(each.id).size(), kShown));
  }
  console.Out(console.Paint(Console::Tone::kBold,
                            fmt::format("{:<{}}  {:<12}  {:>7}  {:>7}  {}\n", "SESSION", width,
                                        "ENV", "AGE", "IDLE", "SERVER")));
  for (const FoundSession& each : sessions) {
    console.Out(fmt::format("{:<{}}  {:<12}  {:>7}  {:>7}  {}\n", Printable(each.id), width,
                            Printable(each.environment), Ago(each.age_ms),
                            each.busy ? "busy" : Ago(each.idle_ms), each.server.pid));
  }
}

void ListJson(const std::vector<FoundSession>& sessions, Console& console) {
  json::array rows;
  for (const FoundSession& each : sessions) {
    rows.push_back(json::object{{"id", each.id},
                                {"env", each.environment},
                                {"age_seconds", each.age_ms / 1000},
                                {"idle_seconds", each.idle_ms / 1000},
                                {"busy", each.busy},
                                {"server", each.server.pid}});
  }
  console.Out(json::serialize(json::object{{"sessions", std::move(rows)}}) + "\n");
}

Result<int> Attach(const FoundSession& session, Console& console) {
  const auto partner = AttachTo(session);
  return Converse(*partner, console);
}

Result<int> Close(const FoundSession& session, Console& console) {
  namespace control = service::control;
  IGLOO_TRY(AskServerFor<control::Closed>(session.server, control::Close{session.id}));
  console.Out(fmt::format("session '{}' is closed, its variables and files are gone\n",
                          Printable(session.id)));
  return 0;
}

Result<int> Interrupt(const FoundSession& session, Console& console) {
  namespace control = service::control;
  IGLOO_ASSIGN(const auto answer,
               AskServerFor<control::Interrupted>(session.server, control::Interrupt{session.id}));
  console.Out(fmt::format("{} in session '{}'\n",
                          answer.ran ? "interrupted what runs" : "nothing runs",
                          Printable(session.id)));
  return 0;
}

Result<int> RunSession(const ParsedArgs& args, Console& console);

constexpr Word kWords[] = {
    {"list", "all sessions of your servers"},
    {"close", "end a session, with everything in it"},
    {"interrupt", "stop the code that runs in a session"},
    {"attach", "work in a session by hand"},
};

constexpr Flag kFlags[] = {
    {"--server", "PID", "only the sessions of this server"},
    {"--json", "", "list: print one JSON document"},
};

}  // namespace

const Command kSessionCommand = {
    .name = "session",
    .summary = "see, end or enter the sessions that models work in",
    .usage = "WORD [ID] [OPTIONS]",
    .flags = kFlags,
    .words = kWords,
    .details =
        "Sessions live in the MCP servers that your clients started. 'attach' gives you a prompt "
        "in\n"
        "one of them: Ctrl-C interrupts the code, Ctrl-D leaves, and the session lives on.\n\n"
        "Examples:\n"
        "  igloo session list\n"
        "  igloo session interrupt data\n",
    .run = RunSession,
};

namespace {

Result<int> RunSession(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const std::string_view word, TakeWord(kSessionCommand, args));
  const bool list = word == "list";
  if (args.words.size() != (list ? 1U : 2U) || args.rest) {
    return Fail(Errc::kInvalidArgument,
                list ? "'igloo session list' takes no words"
                     : fmt::format("'igloo session {}' needs the name of one session", word),
                "'igloo session list' shows them");
  }
  if (list) {
    IGLOO_ASSIGN(const auto sessions, FindSessions(args.Get("--server")));
    args.Has("--json") ? ListJson(sessions, console) : ListText(sessions, console);
    return 0;
  }
  IGLOO_ASSIGN(const FoundSession session, FindSession(args.words[1], args.Get("--server")));
  if (word == "attach") return Attach(session, console);
  return word == "close" ? Close(session, console) : Interrupt(session, console);
}

}  // namespace
}  // namespace igloo::cli
