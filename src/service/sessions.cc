#include "service/sessions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/random.h"
#include "base/scope_exit.h"
#include "base/text.h"
#include "language/driver.h"
#include "service/session_entry.h"
#include "session/asio.h"

namespace igloo::service {

namespace asio = boost::asio;
namespace {

constexpr auto kLook = std::chrono::seconds(5);

std::string HowItEnded(session::Verdict verdict, int exit_code) {
  switch (verdict) {
    case session::Verdict::kMemory:
      return "was killed for its memory";
    case session::Verdict::kTimeout:
      return "had to be killed at its time limit";
    case session::Verdict::kKilled:
    case session::Verdict::kInterrupted:
      return "had to be killed";
    case session::Verdict::kOutput:
      return "was killed because it wrote without end";
    default:
      return fmt::format("ended with exit code {}", exit_code);
  }
}

Error WasEnded(const std::string& id) {
  return {
      Errc::kFailedPrecondition,
      fmt::format("session '{}' was closed meanwhile, with its variables and files", Printable(id)),
      "the next call with this name begins anew", 0};
}

}  // namespace

std::string_view InterpreterOf(const config::Configured& where) {
  const language::Driver* driver = DriverOf(where);
  return driver == nullptr ? "" : driver->interpreter;
}

Sessions::Sessions(asio::io_context& loop, Parts parts, SessionLimits limits)
    : loop_(loop), parts_(std::move(parts)), limits_(limits) {}

Sessions::Sessions(asio::io_context& loop, Runner& runner, SessionLimits limits, Owner owner)
    : Sessions(loop,
               Parts{.open = SessionInterpretersOf(runner),
                     .left = runner.left_limits(),
                     .owner = std::move(owner)},
               limits) {}

std::string Sessions::QualifiedName(const std::string& id) const {
  return parts_.owner.principal.empty() ? id : parts_.owner.principal + "/" + id;
}

std::string Sessions::NewName() const {
  std::string name;
  do name = "s-" + RandomName().substr(0, 12);
  while (sessions_.contains(name));
  return name;
}

Error Sessions::TooMany() const {
  const auto idle = std::ranges::min_element(sessions_, {}, [](const auto& each) {
    return each.second->busy() ? Clock::time_point::max() : each.second->used;
  });
  const bool some = idle != sessions_.end() && !idle->second->busy();
  return {Errc::kExhausted, fmt::format("there are {} sessions already", sessions_.size()),
          some ? fmt::format("go on in one of them, such as '{}', which was used least recently, "
                             "close it with session_action, or leave 'session' out",
                             Printable(idle->first))
               : "wait until one of them has ended, or leave 'session' out",
          0};
}

namespace {

/// SECURITY: a session is served by what its environment is now, and reaches what it did when the
/// session began: it must be the same.
template <class Entry>
Result<void> CheckNetwork(const std::string& id, const Entry& entry, const Offered& environment) {
  if (entry.network == environment.network) return {};
  return Fail(Errc::kFailedPrecondition,
              fmt::format("session '{}' began when environment '{}' had another network",
                          Printable(id), environment.name),
              "close it with session_action \"close\", and begin another");
}

}  // namespace

Result<Sessions::Found> Sessions::Find(const Asked& asked, const Offered& environment,
                                       const Setup& setup) {
  if (asked.id.empty() || asked.id.size() > 256 || ToUtf8(asked.id) != asked.id) {
    return Fail(Errc::kInvalidArgument, "'session' cannot be a session's name",
                "give it 1 to 256 bytes of text");
  }
  // What is decided about sandboxes is told by their names: these are runs' own.
  if (session::ParseRunName(asked.id)) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("'{}' cannot be a session's name: runs are called so", asked.id),
                "give it another one");
  }
  if (asked.code.find('\0') != std::string::npos) {
    return Fail(Errc::kInvalidArgument, "code in a session cannot hold NUL bytes",
                "write them as escapes");
  }
  const auto found = sessions_.find(asked.id);
  if (found == sessions_.end()) return Begin(asked, environment, setup);
  const Found& entry = found->second;
  if (asked.fork_of) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("session '{}' lives already", Printable(asked.id)),
                "fork_of makes a new session: give that one another name, or \"new\"");
  }
  if (entry->environment != environment.name) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("session '{}' belongs to environment '{}', not '{}'",
                            Printable(asked.id), entry->environment, environment.name),
                "use another session, or that environment");
  }
  IGLOO_TRY(CheckNetwork(asked.id, *entry, environment));
  return entry;
}

Result<Sessions::Found> Sessions::Begin(const Asked& asked, const Offered& environment,
                                        const Setup& setup) {
  const Clock::time_point now = parts_.now();
  Reap(now);
  if (sessions_.size() >= limits_.most) return std::unexpected(TooMany());
  IGLOO_ASSIGN(Order order, setup.OrderFor(parts_.owner, environment.name, {}));
  const language::Driver* driver = DriverOf(order.where);
  if (driver == nullptr) {
    return Fail(Errc::kFailedPrecondition,
                fmt::format("environment '{}' has no sessions", environment.name),
                "leave 'session' out; every call then starts afresh");
  }
  IGLOO_ASSIGN(const Found parent, ParentOf(asked, environment));
  auto entry = std::make_shared<Entry>(loop_, environment.name, limits_, now);
  entry->parent = parent;
  entry->interpreter = driver->interpreter;
  entry->network = environment.network;
  entry->usual_time_ms = environment.limits.time_ms;
  order.driver = driver;
  IGLOO_ASSIGN(entry->inside, parent ? parent->inside->Sibling() : parts_.open(order));
  // SECURITY: 'igloo net allow' finds a sandbox by this name, so two principals must not share one.
  entry->inside->Name(QualifiedName(asked.id));
  sessions_.emplace(asked.id, entry);
  if (clock_ == nullptr) {
    clock_ = std::make_unique<asio::steady_timer>(loop_);
    asio::co_spawn(loop_, Watch(), asio::detached);
  }
  if (parts_.begun) parts_.begun();
  return entry;
}

asio::awaitable<Result<Finished>> Sessions::Execute(Asked asked, const Offered& environment,
                                                    std::shared_ptr<const Setup> setup,
                                                    Cancellation cancellation, Listener listener) {
  auto found = Find(asked, environment, *setup);
  if (!found) co_return std::unexpected(std::move(found).error());
  const Found entry = *std::move(found);
  const std::int64_t came = MonotonicMicros();
  co_await entry->turns.Take(cancellation);
  const ScopeExit leaving([&] {
    entry->used = parts_.now();
    entry->turns.GiveBack();
  });
  if (cancellation.requested()) co_return Fail(Errc::kTimeout, "the call was cancelled");
  if (entry->ended) co_return std::unexpected(WasEnded(asked.id));
  const std::int64_t queued = MonotonicMicros() - came;
  if (listener.began) listener.began();
  const ScopeExit over([&] { entry->stop = {}; });
  Cancellation stop = entry->stop;
  const auto cancelled = cancellation.OnRequest([stop]() mutable { stop.Request(); });
  if (auto prepared = co_await Prepare(entry, asked); !prepared) {
    co_return std::unexpected(std::move(prepared).error());
  }
  const auto hook = stop.OnRequest([&] { entry->inside->Interrupt(); });
  session::Interpreter::Call call{
      .code = std::move(asked.code),
      .time_ms = asked.time_ms.value_or(entry->usual_time_ms),
      .manner = asked.echo ? session::Manner::kEcho : session::Manner::kQuiet,
      .heard = std::move(listener.heard)};
  const std::uint64_t time_ms = call.time_ms;
  auto result = co_await entry->inside->Execute(std::move(call));
  if (entry->ended) co_return std::unexpected(WasEnded(asked.id));
  if (!result) co_return std::unexpected(Forget(asked.id, entry, result.error()));
  if (result->gone) (void)Forget(asked.id, entry, {});
  Finished finished = Describe(*entry, *std::move(result), time_ms);
  if (CouldHaveRawSockets(entry->network)) NoteRawSockets(entry->environment, finished);
  if (asked.fork_of) {
    finished.notes.push_back(
        fmt::format("this is a copy of session '{}' as it was: variables and files, but no open "
                    "files, threads or background processes",
                    Printable(*asked.fork_of)));
  }
  finished.session = asked.id;
  finished.queued_micros = queued;
  const int workspace = entry->inside->workspace();
  if (workspace >= 0) {
    const std::vector<environment::GivenFile> none;
    finished.left = co_await ReadInSlices(workspace, none, parts_.left, &entry->stamps);
    if (!finished.left.files.empty()) ++generation_;
  }
  co_return finished;
}

Result<Sessions::Found> Sessions::ParentOf(const Asked& asked, const Offered& environment) const {
  if (!asked.fork_of) return nullptr;
  if (!limits_.fork) {
    return Fail(Errc::kFailedPrecondition, "this server does not fork sessions",
                "begin another session and run the same code there; in the configuration, "
                "[session] fork = true allows it");
  }
  IGLOO_ASSIGN(const Found parent, Known(*asked.fork_of));
  if (parent->environment == environment.name) return parent;
  return Fail(Errc::kInvalidArgument,
              fmt::format("session '{}' belongs to environment '{}', and so does its fork",
                          Printable(*asked.fork_of), parent->environment),
              fmt::format("give env \"{}\"", parent->environment));
}

asio::awaitable<Result<void>> Sessions::CopyFrom(Found parent, Found entry,
                                                 Cancellation cancellation) {
  co_await parent->turns.Take(cancellation);
  const ScopeExit leaving([&] {
    parent->used = parts_.now();
    parent->turns.GiveBack();
  });
  if (cancellation.requested()) co_return Fail(Errc::kTimeout, "the call was stopped");
  if (parent->ended || !parent->ready) {
    co_return Fail(Errc::kNotFound, "the session to be forked is gone");
  }
  co_return co_await parent->inside->CopyTo(*entry->inside);
}

Error Sessions::Forget(const std::string& id, const Found& entry, const Error& error) {
  if (entry->ended) return WasEnded(id);
  const auto here = sessions_.find(id);
  if (here != sessions_.end() && here->second == entry) sessions_.erase(here);
  ++generation_;
  Error said = error;
  if (!entry->ready) {
    said.what = fmt::format("session '{}' could not begin: {}", Printable(id), error.what);
    return said;
  }
  said.what = fmt::format("session '{}' is gone, with its variables and files: {}", Printable(id),
                          error.what);
  said.hint += said.hint.empty() ? "" : "; ";
  said.hint += "the next call with this name begins anew";
  return said;
}

Finished Sessions::Describe(const Entry& entry, session::CallResult result, std::uint64_t time_ms) {
  std::vector<std::string> notes;
  if (result.lost_before) {
    notes.push_back(
        fmt::format("variables were lost, files were kept: the interpreter {} in an earlier call",
                    HowItEnded(result.lost_before->verdict, result.lost_before->exit_code)));
  }
  if (result.gone) {
    notes.push_back(
        fmt::format("the session is gone, with its variables and files: everything in it {}; the "
                    "next call with this name begins anew",
                    HowItEnded(result.verdict, result.exit_code)));
  } else if (result.lost_now) {
    notes.push_back(fmt::format(
        "variables are lost, files are kept: the interpreter {}; the next call begins a new one",
        HowItEnded(result.verdict, result.exit_code)));
  } else if (result.verdict == session::Verdict::kTimeout) {
    notes.emplace_back("variables are kept: the code was interrupted");
  }
  std::string late_output = result.late_output.kept(), late_error = result.late_error.kept();
  Finished finished = FinishedFrom(std::move(result));
  finished.late_output = std::move(late_output);
  finished.late_error = std::move(late_error);
  finished.time_limit_ms = time_ms;
  finished.memory_limit_bytes = entry.inside->memory_limit_bytes();
  finished.notes.insert(finished.notes.begin(), notes.begin(), notes.end());
  return finished;
}

Result<Sessions::Found> Sessions::Known(const std::string& id) const {
  const auto found = sessions_.find(id);
  if (found != sessions_.end()) return found->second;
  return Fail(Errc::kNotFound, fmt::format("there is no session '{}'", Printable(Quoted(id))),
              sessions_.empty() ? "none lives at the moment"
                                : "session_action \"list\" shows those that live");
}

std::optional<std::string> Sessions::EnvironmentOf(std::string_view id) const {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return std::nullopt;
  return found->second->environment;
}

std::vector<Sessions::Listed> Sessions::List() const {
  const Clock::time_point now = parts_.now();
  const auto since = [&](Clock::time_point then) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - then);
  };
  std::vector<Listed> list;
  for (const auto& [id, entry] : sessions_) {
    list.push_back({.id = id,
                    .environment = entry->environment,
                    .interpreter = entry->interpreter,
                    .age = since(entry->born),
                    .idle = entry->busy() ? std::chrono::milliseconds(0) : since(entry->used),
                    .busy = entry->busy(),
                    .waiting = entry->turns.waiting()});
  }
  return list;
}

Result<std::string> Sessions::End(const std::string& id) {
  IGLOO_ASSIGN(const Found entry, Known(id));
  entry->ended = true;
  sessions_.erase(id);
  ++generation_;
  // Calls hold on to it until they know; nothing that runs in it is waited for.
  if (entry->started) entry->inside->Kill();
  return entry->environment;
}

Result<bool> Sessions::Interrupt(const std::string& id) {
  IGLOO_ASSIGN(const Found entry, Known(id));
  if (entry->turns.taken() == 0) return false;
  entry->stop.Request();
  return true;
}

asio::awaitable<Result<void>> Sessions::Reset(std::string id, Cancellation cancellation) {
  auto known = Known(id);
  if (!known) co_return std::unexpected(std::move(known).error());
  const Found entry = *std::move(known);
  if (entry->turns.taken() > 0) entry->stop.Request();
  co_await entry->turns.Take(cancellation);
  const ScopeExit leaving([&] {
    entry->used = parts_.now();
    entry->turns.GiveBack();
  });
  if (cancellation.requested()) co_return Fail(Errc::kTimeout, "the call was cancelled");
  if (entry->ended) co_return std::unexpected(WasEnded(id));
  const ScopeExit over([&] { entry->stop = {}; });
  if (!entry->ready) co_return Result<void>();  // nothing has run in it
  const auto renewed = co_await entry->inside->Renew();
  if (!renewed) co_return std::unexpected(Forget(id, entry, renewed.error()));
  co_return Result<void>();
}

void Sessions::Reap(Clock::time_point now) {
  const std::size_t gone = std::erase_if(sessions_, [&](const auto& each) {
    const Entry& entry = *each.second;
    return !entry.busy() &&
           (now - entry.used > entry.limits.idle || now - entry.born > entry.limits.lifetime);
  });
  generation_ += gone;
}

asio::awaitable<void> Sessions::Watch() {
  while (!sessions_.empty()) {
    clock_->expires_after(kLook);
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await clock_->async_wait(token);
    if (error) co_return;
    Reap(parts_.now());
  }
  clock_.reset();
}

void Sessions::Close() {
  for (const auto& each : sessions_) each.second->turns.Close();
  sessions_.clear();
  clock_.reset();
}

}  // namespace igloo::service
