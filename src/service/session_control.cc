#include "service/session_control.h"

#include <fmt/format.h>

#include "base/text.h"
#include "network/rule.h"

namespace igloo::service {

namespace asio = boost::asio;

namespace {

control::Ran Summary(Finished finished) {
  control::Ran ran{.session = std::move(finished.session),
                   .verdict = std::string(session::Name(finished.run.verdict)),
                   .exit_code = finished.run.exit_code,
                   .duration_ms = static_cast<std::int64_t>(finished.run.usage.wall_micros / 1000),
                   .value = std::move(finished.value),
                   .notes = NotesOf(finished)};
  for (const session::Part& part : finished.parts) {
    ran.parts.push_back({part.type, static_cast<std::int64_t>(part.bytes.size())});
  }
  for (const session::LeftFile& file : finished.left.files) {
    ran.files.push_back({file.path, static_cast<std::int64_t>(file.size)});
  }
  return ran;
}

}  // namespace

control::Listed SessionControl::ListAll() const {
  control::Listed all;
  for (const Sessions* sessions : sessions_) {
    for (Sessions::Listed& each : sessions->List()) {
      each.id = sessions->QualifiedName(each.id);
      all.sessions.push_back(std::move(each));
    }
  }
  return all;
}

Result<SessionControl::Place> SessionControl::Find(const std::string& name) const {
  for (Sessions* sessions : sessions_) {
    const std::string prefix = sessions->QualifiedName("");
    if (name.starts_with(prefix)) return Place{sessions, name.substr(prefix.size())};
  }
  if (sessions_.empty()) return Fail(Errc::kNotFound, "there are no sessions here");
  return Fail(Errc::kNotFound, fmt::format("there is no session '{}'", Printable(Quoted(name))),
              "this server has several principals: write PRINCIPAL/SESSION, as 'igloo session "
              "list' shows them");
}

Result<control::Closed> SessionControl::Close(const std::string& session) {
  IGLOO_ASSIGN(const Place place, Find(session));
  IGLOO_ASSIGN(std::string environment, place.sessions->End(place.id));
  return control::Closed{std::move(environment)};
}

Result<control::Interrupted> SessionControl::Interrupt(const std::string& session) {
  IGLOO_ASSIGN(const Place place, Find(session));
  IGLOO_ASSIGN(const bool ran, place.sessions->Interrupt(place.id));
  return control::Interrupted{ran};
}

asio::awaitable<Result<control::Answer>> SessionControl::Handle(control::Request request,
                                                                Cancellation cancellation,
                                                                control::Heard heard) {
  if (const auto* close = std::get_if<control::Close>(&request)) co_return Close(close->session);
  if (const auto* interrupt = std::get_if<control::Interrupt>(&request)) {
    co_return Interrupt(interrupt->session);
  }
  if (auto* allow = std::get_if<control::Allow>(&request)) {
    co_return co_await Allow(std::move(*allow));
  }
  if (auto* run = std::get_if<control::Run>(&request)) {
    co_return co_await Run(std::move(*run), std::move(cancellation), std::move(heard));
  }
  co_return ListAll();
}

asio::awaitable<Result<control::Allowed>> SessionControl::Allow(control::Allow request) const {
  const auto parsed = network::ParseRule(request.rule);
  if (!parsed) co_return std::unexpected(parsed.error());
  if (!allow_) {
    co_return Fail(Errc::kNotFound, fmt::format("no sandbox '{}' has a network",
                                                Printable(Quoted(request.sandbox))));
  }
  // In its one form: what is written down, compared and shown later is the same everywhere.
  const std::string text = ToText(*parsed);
  auto said = co_await allow_(request.sandbox, text, request.lasting);
  if (!said) co_return std::unexpected(std::move(said).error());
  co_return control::Allowed{.rule = text, .said = *std::move(said)};
}

asio::awaitable<Result<control::Ran>> SessionControl::Run(control::Run request,
                                                          Cancellation cancellation,
                                                          control::Heard heard) {
  const auto place = Find(request.session);
  if (!place) co_return std::unexpected(place.error());
  Sessions& sessions = *place->sessions;
  auto environment = sessions.EnvironmentOf(place->id);
  if (!environment) environment = request.environment;
  if (!environment) {
    co_return Fail(Errc::kNotFound,
                   fmt::format("there is no session '{}'", Printable(Quoted(request.session))),
                   "'igloo session list' shows those that live");
  }
  const auto setup = current_();
  if (!setup) co_return std::unexpected(setup.error());
  const Offered* offered = (*setup)->Find(*environment);
  if (offered == nullptr) {
    co_return Fail(Errc::kNotFound,
                   fmt::format("there is no environment '{}'", Printable(Quoted(*environment))),
                   "'igloo env list' shows those that can be used");
  }
  for (const Sessions::Listed& each : sessions.List()) {
    if (each.id != place->id || !each.busy) continue;
    if (request.if_idle) co_return Fail(Errc::kExhausted, "the session is busy");
    heard(control::Waiting{});
  }
  Sessions::Asked asked{.id = place->id,
                        .code = std::move(request.code),
                        .time_ms = request.time_ms,
                        .echo = request.echo};
  Listener listener{
      .heard = [heard](std::string_view bytes) { heard(control::Output{std::string(bytes)}); }};
  auto finished = co_await sessions.Execute(std::move(asked), *offered, *setup,
                                            std::move(cancellation), std::move(listener));
  if (!finished) co_return std::unexpected(std::move(finished).error());
  co_return Summary(*std::move(finished));
}

}  // namespace igloo::service
