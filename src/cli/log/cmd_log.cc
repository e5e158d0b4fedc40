#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/log/log_output.h"
#include "cli/log/log_query.h"
#include "cli/log/log_view.h"

namespace igloo::cli {
namespace {

/// What boxes signed, in the place of what clients ran.
Result<int> ShowGrants(const ParsedArgs& args, const LogQuery& query, Console& console) {
  if (query.environment || query.client || query.verdict) {
    return Fail(Errc::kInvalidArgument, "'--grants' shows what boxes did, and no calls",
                "leave out --env, --client and --verdict");
  }
  const bool json = args.Has("--json");
  const LogView view{
      .file = audit::kGrantFile,
      .limit = query.limit,
      .since = query.since,
      .show = [&](const std::string& line) -> Result<std::optional<std::string>> {
        IGLOO_ASSIGN(const audit::GrantUse use, audit::DecodeGrantUse(line));
        if (use.time < query.since) return std::nullopt;
        return json ? line + "\n" : GrantLine(use, console);
      },
      .empty = "there is no log of grants yet: it begins with the first signature of a box",
      .others = "no line of the log is as asked for"};
  IGLOO_TRY(ShowLog(args, view, console));
  return 0;
}

Result<int> RunLog(const ParsedArgs& args, Console& console) {
  if (!args.words.empty() || args.rest) {
    return Fail(Errc::kInvalidArgument,
                "'igloo log' does not understand '" +
                    Printable(args.words.empty() ? "--" : args.words[0]) + "'",
                "see 'igloo log --help'");
  }
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  IGLOO_ASSIGN(const LogQuery query, ReadLogQuery(args, now));
  if (args.Has("--grants")) return ShowGrants(args, query, console);
  const bool json = args.Has("--json");
  const LogView view{
      .limit = query.limit,
      .since = query.since,
      .show = [&](const std::string& line) -> Result<std::optional<std::string>> {
        IGLOO_ASSIGN(const audit::Record record, audit::Decode(line));
        if (record.time < query.since || !query.Wants(record)) return std::nullopt;
        // As it was written: a later igloo may have put more into it.
        return json ? line + "\n" : LogLine(record, console);
      },
      .empty =
          "there is no log of calls yet: the MCP server begins one at the first call of a "
          "tool, unless audit.enabled is false",
      .others = "no call in the log is as asked for"};
  IGLOO_TRY(ShowLog(args, view, console));
  return 0;
}

constexpr Flag kFlags[] = {
    {"--follow", "", "go on showing calls as they end, until Ctrl-C"},
    {"--env", "NAME", "only calls for this environment", Values::kEnvironment},
    {"--client", "NAME", "only calls of this client, of any version"},
    {"--verdict", "VERDICT", "only calls that ended like this: ok, exit, timeout, ...",
     Values::kChoices, kLoggedVerdicts},
    {"--grants", "", "what boxes of 'igloo agent' signed and were refused, instead of calls"},
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
