#include <fmt/format.h>

#include <algorithm>

#include "audit/network_log.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/log/log_output.h"
#include "cli/log/log_query.h"
#include "cli/log/log_view.h"
#include "cli/session/session_servers.h"
#include "network/rule.h"
#include "session/network/connection.h"

namespace igloo::cli {
namespace {

Result<void> ShowDecisions(const ParsedArgs& args, Console& console) {
  if (args.words.size() > 1 || args.rest) {
    return Fail(Errc::kInvalidArgument, "'igloo net log' takes no words",
                "'igloo net log --sandbox NAME' shows those of one sandbox");
  }
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  IGLOO_ASSIGN(const LogQuery query, ReadLogQuery(args, now));
  const auto sandbox = args.Get("--sandbox");
  const bool refused = args.Has("--refused"), as_json = args.Has("--json");
  const LogView view{
      .file = audit::kNetworkFile,
      .limit = query.limit,
      .since = query.since,
      .show = [&](const std::string& line) -> Result<std::optional<std::string>> {
        IGLOO_ASSIGN(const network::Record record, audit::DecodeDecision(line));
        const audit::Time time{std::chrono::milliseconds(record.time_ms)};
        using Event = network::Record::Event;
        const bool fine = record.event != Event::kRefused && record.event != Event::kReturned &&
                          record.event != Event::kUnsearched;
        const bool other =
            (sandbox && *sandbox != record.sandbox) || time < query.since || (refused && fine);
        if (other) return std::nullopt;
        // As it was written: a later igloo may have put more into it.
        return as_json ? line + "\n" : DecisionLine(record, console);
      },
      .empty =
          "there is no log of the network yet: it begins with the first decision about a "
          "sandbox that has one",
      .others = "no decision in the log is as asked for"};
  return ShowLog(args, view, console);
}

/// Whom to ask about the sandbox of this name: a run says itself whose it is, and every other name
/// is a session's.
Result<SessionServer> ServerOf(const std::string& sandbox,
                               const std::optional<std::string>& server) {
  const auto run = session::ParseRunName(sandbox);
  if (!run) {
    auto session = FindSession(sandbox, server);
    if (session) return session->server;
    if (session.error().code != Errc::kNotFound) return std::unexpected(session.error());
    return Fail(Errc::kNotFound, fmt::format("there is no session '{}'", Printable(sandbox)),
                "'igloo session list' shows those that live in your servers, 'igloo net log' the "
                "names of runs that were decided about");
  }
  IGLOO_ASSIGN(const std::vector<SessionServer> servers, FindSessionServers());
  const auto found = std::ranges::find(servers, run->pid, &SessionServer::pid);
  if (found != servers.end()) return *found;
  return Fail(Errc::kNotFound, fmt::format("the igloo of '{}' has ended", Printable(sandbox)),
              "--allow lets the next run reach more, and so does 'allow' in the configuration");
}

Result<void> Allow(const ParsedArgs& args, Console& console) {
  if (args.words.size() != 3 || args.rest) {
    return Fail(Errc::kInvalidArgument, "'igloo net allow' needs a sandbox and a rule",
                "for example: igloo net allow data example.org");
  }
  if (args.Has("--once") && args.Has("--session")) {
    return Fail(Errc::kInvalidArgument, "'--once' and '--session' contradict each other",
                "leave one of them out");
  }
  const std::string& sandbox = args.words[1];
  IGLOO_TRY(network::ParseRule(args.words[2]));
  IGLOO_ASSIGN(const SessionServer server, ServerOf(sandbox, args.Get("--server")));
  const service::control::Allow allow{
      .sandbox = sandbox,
      .rule = args.words[2],
      .lasting = args.Has("--once") ? service::Lasting::kOnce : service::Lasting::kSession};
  IGLOO_ASSIGN(const auto answer, AskServerFor<service::control::Allowed>(server, allow));
  console.Out(fmt::format("sandbox '{}' may reach {}{}\n", Printable(sandbox),
                          Printable(answer.rule),
                          args.Has("--once") ? ", once" : " while it lives"));
  const std::string said = Printable(answer.said);
  if (!said.empty()) console.Note(said);
  return {};
}

Result<int> RunNet(const ParsedArgs& args, Console& console);

constexpr Word kWords[] = {
    {"log", "what sandboxes reached, and what they were refused"},
    {"allow", "let a living sandbox reach more"},
};

constexpr Flag kFlags[] = {
    {"--sandbox", "NAME", "log: only decisions about this sandbox"},
    {"--refused", "", "log: only refusals, and secrets that servers sent back"},
    {"--follow", "", "log: go on showing decisions as they are made, until Ctrl-C"},
    {"--since", "TIME", "log: only decisions since then: 15m, 2h, 3d, 2026-01-31"},
    {"--limit", "N", "log: the last N of them (20)"},
    {"--json", "", "log: print the records as they are, one JSON document in each line"},
    {"--once", "", "allow: for one connection"},
    {"--session", "", "allow: while the sandbox lives (default)"},
    {"--server", "PID", "allow: a session of this server"},
};

}  // namespace

const Command kNetCommand = {
    .name = "net",
    .summary = "see and change what sandboxes reach",
    .usage = "(log [OPTIONS] | allow SANDBOX RULE [OPTIONS])",
    .flags = kFlags,
    .words = kWords,
    .details =
        "A refusal names the rule that would have allowed it; 'allow' adds such a rule to a "
        "sandbox\n"
        "that lives, a session or an igloo run, at once. The log is network.jsonl in igloo's\n"
        "directory in XDG_STATE_HOME or ~/.local/state.\n\n"
        "Examples:\n"
        "  igloo net log --refused\n"
        "  igloo net log --follow --sandbox data\n"
        "  igloo net allow data pypi.org\n"
        "  igloo net allow data 'GET http://example.org/docs/*' --once\n",
    .run = RunNet,
};

namespace {

Result<int> RunNet(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const std::string_view word, TakeWord(kNetCommand, args));
  IGLOO_TRY(word == "log" ? ShowDecisions(args, console) : Allow(args, console));
  return 0;
}

}  // namespace
}  // namespace igloo::cli
