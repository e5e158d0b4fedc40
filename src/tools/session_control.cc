#include "tools/session_control.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/parse.hpp>

#include "base/base64.h"
#include "base/overloaded.h"
#include "base/text.h"
#include "mcp/pch.h"

namespace igloo::tools {

namespace asio = boost::asio;
namespace control = service::control;

namespace {

Result<std::string> TextIn(const mcp::JsonObject& object, std::string_view name) {
  const mcp::Json* value = object.if_contains(name);
  if (value != nullptr && value->is_string()) return std::string(value->as_string());
  return Fail(Errc::kInvalidArgument, fmt::format("the request has no '{}'", name));
}

std::string AnyTextIn(const mcp::JsonObject& object, std::string_view name) {
  return TextIn(object, name).value_or("");
}

bool IsSet(const mcp::JsonObject& object, std::string_view name) {
  const mcp::Json* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->as_bool();
}

std::int64_t NumberIn(const mcp::JsonObject& object, std::string_view name) {
  const mcp::Json* value = object.if_contains(name);
  return value != nullptr && value->is_int64() ? value->as_int64() : 0;
}

/// What a list in an object has of the right kind.
template <class Take>
void ForEach(const mcp::JsonObject& object, std::string_view name, Take take) {
  const mcp::Json* value = object.if_contains(name);
  if (value == nullptr || !value->is_array()) return;
  for (const mcp::Json& each : value->as_array()) take(each);
}

Result<mcp::JsonObject> ObjectIn(std::string_view json) {
  boost::system::error_code bad;
  mcp::Json parsed = boost::json::parse(json, bad);
  if (!bad && parsed.is_object()) return std::move(parsed.as_object());
  return Fail(Errc::kInvalidArgument, "a request is a JSON object");
}

Result<control::Request> DecodeAllow(const mcp::JsonObject& object) {
  control::Allow allow;
  IGLOO_ASSIGN(allow.sandbox, TextIn(object, "sandbox"));
  IGLOO_ASSIGN(allow.rule, TextIn(object, "rule"));
  IGLOO_ASSIGN(const std::string lasting, TextIn(object, "for"));
  if (lasting != "once" && lasting != "session") {
    return Fail(Errc::kInvalidArgument, "'for' is 'once' or 'session'");
  }
  allow.lasting = lasting == "once" ? service::Lasting::kOnce : service::Lasting::kSession;
  return allow;
}

Result<control::Request> DecodeRun(const mcp::JsonObject& object, std::string session) {
  control::Run run{.session = std::move(session),
                   .echo = IsSet(object, "echo"),
                   .if_idle = IsSet(object, "if_idle")};
  IGLOO_ASSIGN(run.code, TextIn(object, "code"));
  if (object.contains("env")) run.environment = AnyTextIn(object, "env");
  const std::int64_t limit = NumberIn(object, "timeout_ms");
  if (limit > 0) run.time_ms = static_cast<std::uint64_t>(limit);
  return run;
}

mcp::JsonObject EncodeRun(const control::Run& run) {
  mcp::JsonObject object{
      {"do", "run"}, {"session", run.session}, {"code", run.code}, {"echo", run.echo}};
  if (run.environment) object["env"] = *run.environment;
  if (run.if_idle) object["if_idle"] = true;
  if (run.time_ms > 0) object["timeout_ms"] = run.time_ms;
  return object;
}

mcp::JsonObject EncodeProgress(const control::Progress& progress) {
  if (const auto* output = std::get_if<control::Output>(&progress)) {
    return {{"output", ToBase64(output->bytes)}};
  }
  return {{"waiting", true}};
}

mcp::JsonObject EncodeList(const control::Listed& listed) {
  boost::json::array list;
  for (const service::Sessions::Listed& each : listed.sessions) {
    list.push_back(mcp::JsonObject{{"id", each.id},
                                   {"env", each.environment},
                                   {"interpreter", each.interpreter},
                                   {"age_ms", each.age.count()},
                                   {"idle_ms", each.idle.count()},
                                   {"busy", each.busy},
                                   {"waiting", each.waiting}});
  }
  return {{"ok", true}, {"pid", ::getpid()}, {"sessions", std::move(list)}};
}

control::Listed DecodeList(const mcp::JsonObject& object) {
  control::Listed listed;
  ForEach(object, "sessions", [&](const mcp::Json& each) {
    if (!each.is_object()) return;
    const mcp::JsonObject& row = each.as_object();
    listed.sessions.push_back({.id = AnyTextIn(row, "id"),
                               .environment = AnyTextIn(row, "env"),
                               .interpreter = AnyTextIn(row, "interpreter"),
                               .age = std::chrono::milliseconds(NumberIn(row, "age_ms")),
                               .idle = std::chrono::milliseconds(NumberIn(row, "idle_ms")),
                               .busy = IsSet(row, "busy"),
                               .waiting = static_cast<std::size_t>(NumberIn(row, "waiting"))});
  });
  return listed;
}

mcp::JsonObject EncodeRan(const control::Ran& ran) {
  mcp::JsonObject out{{"ok", true},
                      {"session", ran.session},
                      {"verdict", ran.verdict},
                      {"exit_code", ran.exit_code},
                      {"duration_ms", ran.duration_ms}};
  if (ran.value) out["value"] = ToUtf8(*ran.value);
  boost::json::array notes, parts, files;
  for (const std::string& note : ran.notes) notes.emplace_back(ToUtf8(note));
  for (const auto& [type, size] : ran.parts) {
    parts.push_back(mcp::JsonObject{{"type", ToUtf8(type)}, {"size", size}});
  }
  for (const auto& [path, size] : ran.files) {
    files.push_back(mcp::JsonObject{{"path", ToUtf8(path)}, {"size", size}});
  }
  out["notes"] = std::move(notes);
  out["parts"] = std::move(parts);
  out["files"] = std::move(files);
  return out;
}

control::Ran DecodeRan(const mcp::JsonObject& object) {
  control::Ran ran{.session = AnyTextIn(object, "session"),
                   .verdict = AnyTextIn(object, "verdict"),
                   .exit_code = NumberIn(object, "exit_code"),
                   .duration_ms = NumberIn(object, "duration_ms")};
  if (object.contains("value")) ran.value = AnyTextIn(object, "value");
  ForEach(object, "notes", [&](const mcp::Json& each) {
    if (each.is_string()) ran.notes.emplace_back(each.as_string());
  });
  ForEach(object, "parts", [&](const mcp::Json& each) {
    if (!each.is_object()) return;
    ran.parts.push_back({AnyTextIn(each.as_object(), "type"), NumberIn(each.as_object(), "size")});
  });
  ForEach(object, "files", [&](const mcp::Json& each) {
    if (!each.is_object()) return;
    ran.files.push_back({AnyTextIn(each.as_object(), "path"), NumberIn(each.as_object(), "size")});
  });
  return ran;
}

mcp::JsonObject EncodeAnswer(const control::Answer& answer) {
  return std::visit(Overloaded{[](const control::Listed& listed) { return EncodeList(listed); },
                               [](const control::Closed& closed) {
                                 return mcp::JsonObject{{"ok", true}, {"env", closed.environment}};
                               },
                               [](const control::Interrupted& interrupted) {
                                 return mcp::JsonObject{{"ok", true}, {"ran", interrupted.ran}};
                               },
                               [](const control::Allowed& allowed) {
                                 return mcp::JsonObject{{"ok", true},
                                                        {"rule", allowed.rule},
                                                        {"said", ToUtf8(allowed.said)}};
                               },
                               [](const control::Ran& ran) { return EncodeRan(ran); }},
                    answer);
}

mcp::JsonObject EncodeError(const Error& error) {
  return {{"error", mcp::JsonObject{{"what", ToUtf8(error.what)}, {"hint", ToUtf8(error.hint)}}}};
}

}  // namespace

mcp::JsonObject Encode(const control::Request& request) {
  const auto on = [](const char* what, const std::string& session) {
    return mcp::JsonObject{{"do", what}, {"session", session}};
  };
  return std::visit(
      Overloaded{
          [](const control::List&) { return mcp::JsonObject{{"do", "list"}}; },
          [&](const control::Close& close) { return on("close", close.session); },
          [&](const control::Interrupt& interrupt) { return on("interrupt", interrupt.session); },
          [](const control::Allow& allow) {
            const bool once = allow.lasting == service::Lasting::kOnce;
            return mcp::JsonObject{{"do", "net-allow"},
                                   {"sandbox", allow.sandbox},
                                   {"rule", allow.rule},
                                   {"for", once ? "once" : "session"}};
          },
          [](const control::Run& run) { return EncodeRun(run); }},
      request);
}

Result<control::Request> DecodeRequest(std::string_view json) {
  IGLOO_ASSIGN(const mcp::JsonObject object, ObjectIn(json));
  IGLOO_ASSIGN(const std::string what, TextIn(object, "do"));
  if (what == "net-allow") return DecodeAllow(object);
  if (what == "list") return control::List{};
  IGLOO_ASSIGN(std::string session, TextIn(object, "session"));
  if (what == "close") return control::Close{std::move(session)};
  if (what == "interrupt") return control::Interrupt{std::move(session)};
  if (what == "run") return DecodeRun(object, std::move(session));
  return Fail(Errc::kInvalidArgument,
              fmt::format("this server cannot '{}'", Printable(Quoted(what))),
              "it may be another version of igloo: restart it");
}

Result<ControlMessage> DecodeMessage(std::string_view json) {
  const auto object = ObjectIn(json);
  const Error nonsense{Errc::kProtocol, "the server talks nonsense", {}, 0};
  if (!object) return std::unexpected(nonsense);
  if (const mcp::Json* error = object->if_contains("error")) {
    if (!error->is_object()) return std::unexpected(nonsense);
    return Fail(Errc::kFailedPrecondition, Printable(AnyTextIn(error->as_object(), "what")),
                Printable(AnyTextIn(error->as_object(), "hint")));
  }
  if (object->contains("waiting")) return control::Progress(control::Waiting{});
  if (object->contains("output")) {
    return control::Progress(
        control::Output{FromBase64(AnyTextIn(*object, "output")).value_or("")});
  }
  if (object->contains("sessions")) return control::Answer(DecodeList(*object));
  if (object->contains("verdict")) return control::Answer(DecodeRan(*object));
  if (object->contains("ran")) return control::Answer(control::Interrupted{IsSet(*object, "ran")});
  if (object->contains("rule")) {
    return control::Answer(
        control::Allowed{AnyTextIn(*object, "rule"), AnyTextIn(*object, "said")});
  }
  if (object->contains("env")) return control::Answer(control::Closed{AnyTextIn(*object, "env")});
  return std::unexpected(nonsense);
}

asio::awaitable<void> Serve(service::SessionControl& control, std::string request,
                            Cancellation cancellation,
                            std::function<void(const mcp::JsonObject&)> emit) {
  auto decoded = DecodeRequest(request);
  if (!decoded) co_return emit(EncodeError(decoded.error()));
  control::Heard heard = [emit](const control::Progress& progress) {
    emit(EncodeProgress(progress));
  };
  const auto answer =
      co_await control.Handle(*std::move(decoded), std::move(cancellation), std::move(heard));
  emit(answer ? EncodeAnswer(*answer) : EncodeError(answer.error()));
}

}  // namespace igloo::tools
