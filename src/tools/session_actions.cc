#include "tools/session_actions.h"

#include <fmt/format.h>

#include "base/text.h"
#include "mcp/pch.h"
#include "tools/render.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

std::int64_t Seconds(std::chrono::milliseconds time) { return time.count() / 1000; }

mcp::ToolResult RenderList(const std::vector<Sessions::Listed>& sessions) {
  std::string text = sessions.empty() ? "there are no sessions" : "";
  boost::json::array list;
  for (const Sessions::Listed& each : sessions) {
    const std::string state = each.busy ? "busy" : fmt::format("idle for {} s", Seconds(each.idle));
    text += fmt::format("{}: {}, {} s old, {}\n", Printable(each.id), each.environment,
                        Seconds(each.age), state);
    list.push_back(mcp::JsonObject{{"id", each.id},
                                   {"env", each.environment},
                                   {"age_seconds", Seconds(each.age)},
                                   {"idle_seconds", Seconds(each.idle)},
                                   {"busy", each.busy}});
  }
  mcp::ToolResult result = RenderWord(std::move(text), "");
  result.structured->as_object()["sessions"] = std::move(list);
  return result;
}

/// What was done, as a sentence.
asio::awaitable<Result<std::string>> Do(Sessions& sessions, SessionAction action,
                                        const std::string& id, Cancellation cancellation) {
  const std::string name = Printable(Quoted(id));
  if (action == SessionAction::kClose) {
    const auto ended = sessions.End(id);
    if (!ended) co_return std::unexpected(ended.error());
    co_return fmt::format("session '{}' is closed, its variables and files are gone", name);
  }
  if (action == SessionAction::kInterrupt) {
    const auto ran = sessions.Interrupt(id);
    if (!ran) co_return std::unexpected(ran.error());
    co_return fmt::format("{} in session '{}'", *ran ? "interrupted what runs" : "nothing runs",
                          name);
  }
  const auto reset = co_await sessions.Reset(id, cancellation);
  if (!reset) co_return std::unexpected(reset.error());
  co_return fmt::format("session '{}' has a new interpreter: variables are gone, files are kept",
                        name);
}

}  // namespace

asio::awaitable<mcp::ToolResult> Act(Sessions& sessions, SessionAction action, std::string id,
                                     Cancellation cancellation, Trace& trace) {
  trace.session = Quoted(id);
  trace.environment = sessions.EnvironmentOf(id).value_or("");
  if (action == SessionAction::kList) {
    trace.verdict = "ok";
    co_return RenderList(sessions.List());
  }
  auto done = co_await Do(sessions, action, id, cancellation);
  if (!done) {
    trace.error = done.error().what;
    co_return RenderFailure(done.error(), trace.environment);
  }
  trace.verdict = "ok";
  mcp::ToolResult result = RenderWord(*std::move(done), trace.environment);
  result.structured->as_object()["session"] = id;
  co_return result;
}

}  // namespace igloo::tools
