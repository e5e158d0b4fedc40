#include "service/session_interpreter.h"

#include <utility>

#include "base/file.h"
#include "language/language.h"
#include "session/asio.h"
#include "session/files/copy_tree.h"
#include "session/in_thread.h"

namespace igloo::service {

namespace asio = boost::asio;

namespace {

/// For a session to say what it is, and for another to become it.
constexpr std::uint64_t kSnapshotMs = 10'000;

class PooledInterpreter : public SessionInterpreter {
 public:
  PooledInterpreter(Runner& runner, const language::Driver& driver,
                    std::unique_ptr<session::OpenInterpreter> open)
      : runner_(runner), driver_(driver), open_(std::move(open)) {}

  void Name(const std::string& session) override {
    name_ = session;
    if (open_->connection) open_->connection->Rename(session);
  }
  asio::awaitable<Result<void>> Start() override {
    auto started = co_await runner_.Start(*open_);
    // Another one may have taken its place.
    if (started && open_->connection) open_->connection->Rename(name_);
    co_return started;
  }
  asio::awaitable<Result<session::CallResult>> Execute(session::Interpreter::Call call) override {
    return open_->interpreter->Execute(std::move(call));
  }
  asio::awaitable<Result<void>> Renew() override { return open_->interpreter->Renew(); }
  void Interrupt() override { open_->interpreter->Interrupt(); }
  void Kill() override { open_->interpreter->Kill(); }
  int workspace() const override { return open_->interpreter->workspace(); }
  std::uint64_t memory_limit_bytes() const override {
    return open_->recipe->plan.payload.memory_bytes;
  }

  Result<std::unique_ptr<SessionInterpreter>> Sibling() override {
    if (workspace() < 0) {
      return Fail(Errc::kFailedPrecondition,
                  "sessions behind " + std::string(open_->recipe->wall->name) + " cannot be forked",
                  "begin another session and run the same code there");
    }
    if (driver_.fork == language::Fork::kNone) {
      const language::Language* of = language::Find(driver_.interpreter);
      return Fail(Errc::kFailedPrecondition,
                  "sessions of " + std::string(of->title) + " cannot be forked",
                  "begin another session and run the same code there");
    }
    IGLOO_ASSIGN(auto open, runner_.Sibling(*open_));
    return std::make_unique<PooledInterpreter>(runner_, driver_, std::move(open));
  }

  asio::awaitable<Result<void>> CopyTo(SessionInterpreter& sibling) override {
    auto& other = static_cast<PooledInterpreter&>(sibling);  // made by Sibling
    auto work = [from = Duplicate(workspace()), to = Duplicate(other.workspace())] {
      const auto copied = session::CopyTree(from.get(), to.get());
      return copied ? Result<void>() : Result<void>(std::unexpected(copied.error()));
    };
    auto files = co_await session::InThread(runner_.loop(), std::move(work));
    if (!files) co_return files;
    if (driver_.fork == language::Fork::kMemory) {
      co_return co_await open_->interpreter->CopyTo(*other.open_->interpreter);
    }
    if (driver_.fork == language::Fork::kText) {
      co_return co_await CopyText(*other.open_->interpreter);
    }
    co_return Result<void>();  // files are all that the others keep
  }

 private:
  asio::awaitable<Result<void>> CopyText(session::Interpreter& other) {
    session::Interpreter::Call ask{.code = std::string(driver_.snapshot),
                                   .time_ms = kSnapshotMs,
                                   .manner = session::Manner::kQuiet};
    auto said = co_await open_->interpreter->Execute(std::move(ask));
    if (!said) co_return std::unexpected(std::move(said).error());
    if (said->lost_before) {
      co_return Fail(Errc::kFailedPrecondition, "the session has lost its variables",
                     "there is nothing to fork: begin another session");
    }
    if (said->verdict != session::Verdict::kOk ||
        said->output.total() > said->output.kept().size()) {
      co_return Fail(Errc::kFailedPrecondition, "the shell does not tell what it knows",
                     "begin another session and run the same code there");
    }
    session::Interpreter::Call become{
        .code = said->output.kept(), .time_ms = kSnapshotMs, .manner = session::Manner::kQuiet};
    auto became = co_await other.Execute(std::move(become));
    if (!became) co_return std::unexpected(std::move(became).error());
    co_return Result<void>();
  }

  Runner& runner_;
  const language::Driver& driver_;
  std::unique_ptr<session::OpenInterpreter> open_;
  std::string name_ = {};
};

}  // namespace

OpenSessionInterpreter SessionInterpretersOf(Runner& runner) {
  return [&runner](const Order& order) -> Result<std::unique_ptr<SessionInterpreter>> {
    IGLOO_ASSIGN(auto open, runner.Open(order, session::Pool::Origin::kCheckpoint));
    return std::make_unique<PooledInterpreter>(runner, *order.driver, std::move(open));
  };
}

}  // namespace igloo::service
