#include "tools/session_control.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/parse.hpp>

#include "base/base64.h"
#include "base/text.h"
#include "mcp/pch.h"
#include "network/rule.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

Result<std::string> TextIn(const mcp::JsonObject& request, std::string_view name) {
  const mcp::Json* value = request.if_contains(name);
  if (value != nullptr && value->is_string()) return std::string(value->as_string());
  return Fail(Errc::kInvalidArgument, fmt::format("the request has no '{}'", name));
}

bool IsSet(const mcp::JsonObject& request, std::string_view name) {
  const mcp::Json* value = request.if_contains(name);
  return value != nullptr && value->is_bool() && value->as_bool();
}

mcp::JsonObject Describe(const service::Finished& finished) {
  mcp::JsonObject out{{"ok", true},
                      {"session", finished.session},
                      {"verdict", session::Name(finished.run.verdict)},
                      {"exit_code", finished.run.exit_code},
                      {"duration_ms", finished.run.usage.wall_micros / 1000}};
  if (finished.value) out["value"] = ToUtf8(*finished.value);
  boost::json::array notes, parts, files;
  for (const std::string& note : service::NotesOf(finished)) notes.emplace_back(ToUtf8(note));
  for (const session::Part& part : finished.parts) {
    parts.push_back(mcp::JsonObject{{"type", ToUtf8(part.type)}, {"size", part.bytes.size()}});
  }
  for (const session::LeftFile& file : finished.left.files) {
    files.push_back(mcp::JsonObject{{"path", ToUtf8(file.path)}, {"size", file.size}});
  }
  out["notes"] = std::move(notes);
  out["parts"] = std::move(parts);
  out["files"] = std::move(files);
  return out;
}

mcp::JsonObject Describe(const Error& error) {
  return {{"error", mcp::JsonObject{{"what", ToUtf8(error.what)}, {"hint", ToUtf8(error.hint)}}}};
}

}  // namespace

mcp::JsonObject SessionControl::ListAll() const {
  boost::json::array list;
  for (const service::Sessions* sessions : sessions_) {
    for (const service::Sessions::Listed& each : sessions->List()) {
      list.push_back(mcp::JsonObject{{"id", sessions->QualifiedName(each.id)},
                                     {"env", each.environment},
                                     {"interpreter", each.interpreter},
                                     {"age_ms", each.age.count()},
                                     {"idle_ms", each.idle.count()},
                                     {"busy", each.busy},
                                     {"waiting", each.waiting}});
    }
  }
  return {{"ok", true}, {"pid", ::getpid()}, {"sessions", std::move(list)}};
}

Result<SessionControl::Place> SessionControl::Find(const std::string& name) const {
  for (service::Sessions* sessions : sessions_) {
    const std::string prefix = sessions->QualifiedName("");
    if (name.starts_with(prefix)) return Place{sessions, name.substr(prefix.size())};
  }
  if (sessions_.empty()) return Fail(Errc::kNotFound, "there are no sessions here");
  return Fail(Errc::kNotFound, fmt::format("there is no session '{}'", Printable(Quoted(name))),
              "this server has several principals: write PRINCIPAL/SESSION, as 'igloo session "
              "list' shows them");
}

asio::awaitable<void> SessionControl::Handle(std::string request, Cancellation cancellation,
                                             Emit emit) {
  const auto answer = co_await Answer(request, std::move(cancellation), emit);
  emit(answer ? *answer : Describe(answer.error()));
}

asio::awaitable<Result<mcp::JsonObject>> SessionControl::Answer(std::string_view request,
                                                                Cancellation cancellation,
                                                                Emit emit) {
  boost::system::error_code bad;
  const mcp::Json parsed = boost::json::parse(request, bad);
  if (bad || !parsed.is_object()) {
    co_return Fail(Errc::kInvalidArgument, "a request is a JSON object");
  }
  const mcp::JsonObject& object = parsed.as_object();
  const auto what = TextIn(object, "do");
  if (!what) co_return std::unexpected(what.error());
  if (*what == "net-allow") co_return co_await Allow(object);
  if (*what == "list") co_return ListAll();
  const auto id = TextIn(object, "session");
  if (!id) co_return std::unexpected(id.error());
  const auto place = Find(*id);
  if (!place) co_return std::unexpected(place.error());
  if (*what == "close") {
    const auto ended = place->sessions->End(place->id);
    if (!ended) co_return std::unexpected(ended.error());
    co_return mcp::JsonObject{{"ok", true}, {"env", *ended}};
  }
  if (*what == "interrupt") {
    const auto ran = place->sessions->Interrupt(place->id);
    if (!ran) co_return std::unexpected(ran.error());
    co_return mcp::JsonObject{{"ok", true}, {"ran", *ran}};
  }
  if (*what == "run") co_return co_await Run(object, std::move(cancellation), std::move(emit));
  co_return Fail(Errc::kInvalidArgument,
                 fmt::format("this server cannot '{}'", Printable(Quoted(*what))),
                 "it may be another version of igloo: restart it");
}

asio::awaitable<Result<mcp::JsonObject>> SessionControl::Allow(mcp::JsonObject request) const {
  const auto sandbox = TextIn(request, "sandbox");
  const auto rule = TextIn(request, "rule");
  const auto lasting = TextIn(request, "for");
  for (const auto* each : {&sandbox, &rule, &lasting}) {
    if (!*each) co_return std::unexpected(each->error());
  }
  if (*lasting != "once" && *lasting != "session") {
    co_return Fail(Errc::kInvalidArgument, "'for' is 'once' or 'session'");
  }
  const auto parsed = network::ParseRule(*rule);
  if (!parsed) co_return std::unexpected(parsed.error());
  if (!allow_) {
    co_return Fail(Errc::kNotFound,
                   fmt::format("no sandbox '{}' has a network", Printable(Quoted(*sandbox))));
  }
  // In its one form: what is written down, compared and shown later is the same everywhere.
  const std::string text = ToText(*parsed);
  const service::Lasting how =
      *lasting == "once" ? service::Lasting::kOnce : service::Lasting::kSession;
  const auto said = co_await allow_(*sandbox, text, how);
  if (!said) co_return std::unexpected(said.error());
  co_return mcp::JsonObject{{"ok", true}, {"rule", text}, {"said", ToUtf8(*said)}};
}

asio::awaitable<Result<mcp::JsonObject>> SessionControl::Run(mcp::JsonObject request,
                                                             Cancellation cancellation, Emit emit) {
  const auto id = TextIn(request, "session");
  const auto code = TextIn(request, "code");
  if (!id || !code) co_return std::unexpected(id ? code.error() : id.error());
  const auto place = Find(*id);
  if (!place) co_return std::unexpected(place.error());
  service::Sessions& sessions = *place->sessions;
  auto environment = sessions.EnvironmentOf(place->id);
  if (!environment && request.contains("env")) environment = TextIn(request, "env").value_or("");
  if (!environment) {
    co_return Fail(Errc::kNotFound, fmt::format("there is no session '{}'", Printable(Quoted(*id))),
                   "'igloo session list' shows those that live");
  }
  const auto setup = current_();
  if (!setup) co_return std::unexpected(setup.error());
  const service::Offered* offered = (*setup)->Find(*environment);
  if (offered == nullptr) {
    co_return Fail(Errc::kNotFound,
                   fmt::format("there is no environment '{}'", Printable(Quoted(*environment))),
                   "'igloo env list' shows those that can be used");
  }
  for (const service::Sessions::Listed& each : sessions.List()) {
    if (each.id != place->id || !each.busy) continue;
    if (IsSet(request, "if_idle")) co_return Fail(Errc::kExhausted, "the session is busy");
    emit({{"waiting", true}});
  }
  const mcp::Json* limit = request.if_contains("timeout_ms");
  service::Sessions::Asked asked{
      .id = place->id,
      .code = *code,
      .time_ms = limit != nullptr && limit->is_int64() && limit->as_int64() > 0
                     ? static_cast<std::uint64_t>(limit->as_int64())
                     : 0,
      .echo = IsSet(request, "echo")};
  service::Listener listener{
      .heard = [emit](std::string_view bytes) { emit({{"output", ToBase64(bytes)}}); }};
  auto finished = co_await sessions.Execute(std::move(asked), *offered, *setup,
                                            std::move(cancellation), std::move(listener));
  if (!finished) co_return std::unexpected(std::move(finished).error());
  co_return Describe(*finished);
}

}  // namespace igloo::tools
