#include "session/warm/checkpoint.h"

#include <sstream>

#include "base/text.h"
#include "session/asio.h"
#include "session/interpreter.h"

namespace igloo::session {

namespace asio = boost::asio;

namespace {
constexpr std::size_t kMostComplaints = 100;
}

Checkpoint::Checkpoint(asio::io_context& loop, backend::Backend& backend, const sandbox::Plan& plan,
                       Options options)
    : loop_(loop),
      backend_(backend),
      plan_(plan),
      options_(std::move(options)),
      changed_(loop, asio::steady_timer::time_point::max()) {}

std::shared_ptr<Checkpoint> Checkpoint::Make(asio::io_context& loop, backend::Backend& backend,
                                             const sandbox::Plan& plan, Options options) {
  const std::shared_ptr<Checkpoint> made(new Checkpoint(loop, backend, plan, std::move(options)));
  asio::co_spawn(loop, made->Run(), asio::detached);
  return made;
}

asio::awaitable<void> Checkpoint::Run() {
  const auto self = shared_from_this();
  auto written = co_await Write();
  if (written) {
    file_ = *std::move(written);
  } else {
    failure_ = std::move(written).error();
  }
  changed_.cancel();
}

asio::awaitable<Result<UniqueFd>> Checkpoint::Write() {
  InterpreterOptions options;
  options.group = std::move(options_.group);
  options.connection = std::move(options_.connection);
  options.copier = options_.copier;
  Interpreter interpreter(loop_, plan_, backend_, std::move(options));
  auto started = co_await interpreter.Start();
  if (!started) co_return std::unexpected(std::move(started).error());
  auto written = co_await interpreter.WriteCheckpoint(options_.preload);
  if (!written) co_return std::unexpected(std::move(written).error());
  std::istringstream lines(std::move(written->complaints));
  for (std::string line; complaints_.size() < kMostComplaints && std::getline(lines, line);) {
    complaints_.push_back(Printable(line));
  }
  co_return std::move(written->file);
}

asio::awaitable<Result<int>> Checkpoint::File(std::chrono::milliseconds limit) {
  const auto self = shared_from_this();
  if (!ready() && usable()) {
    asio::steady_timer patience(loop_, limit);
    patience.async_wait([self](boost::system::error_code error) {
      if (!error) self->changed_.cancel();
    });
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!ready() && usable() && std::chrono::steady_clock::now() < until) {
      boost::system::error_code ignored;
      auto token = asio::redirect_error(asio::use_awaitable, ignored);
      co_await changed_.async_wait(token);
    }
  }
  if (failure_) co_return std::unexpected(*failure_);
  if (!ready()) co_return Fail(Errc::kTimeout, "the interpreter takes too long to load");
  co_return file_.get();
}

}  // namespace igloo::session
