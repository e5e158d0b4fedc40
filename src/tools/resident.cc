#include "tools/resident.h"

#include <utility>

#include "mcp/pch.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

class InterpreterResident : public Resident {
 public:
  explicit InterpreterResident(std::unique_ptr<session::OpenInterpreter> open)
      : open_(std::move(open)) {}

  asio::awaitable<Result<void>> Start() override {
    if (open_->started) co_return Result<void>();  // it waited for this
    co_return co_await open_->interpreter->Start();
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

 private:
  std::unique_ptr<session::OpenInterpreter> open_;
};

}  // namespace

OpenResident ResidentsOf(Runner& runner) {
  return [&runner](const Order& order) -> Result<std::unique_ptr<Resident>> {
    IGLOO_ASSIGN(auto open, runner.Open(order));
    return std::make_unique<InterpreterResident>(std::move(open));
  };
}

}  // namespace igloo::tools
