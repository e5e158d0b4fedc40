#include "support/programs.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "environment/host.h"
#include "session/prepare.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/sandbox.h"

namespace igloo::testing {

namespace asio = boost::asio;

sandbox::Plan PlanForProgram(const std::string& environment, environment::RunRequest more) {
  // As the server makes it (service/recipes.cc).
  const auto host =
      environment::MakeHostEnvironment(environment, environment::ReadHostLayout()).value();
  more.what = environment::AwaitedCode{};
  more.time_ms = 0;
  more.hand_out = true;
  return session::PlanFor(host, more).value();
}

Programs::Programs(const std::string& environment, environment::RunRequest more)
    : plan_(PlanForProgram(environment, std::move(more))),
      groups_(cgroup::Find()),
      backend_(BuiltPrograms(), backend::jail::Mode::kPrepared) {
  ::signal(SIGPIPE, SIG_IGN);
}

Programs::~Programs() {
  // What watched the descriptors of programs that are gone comes to its end.
  loop_.restart();
  loop_.poll();
}

bool Programs::RunUntil(const std::function<bool()>& done) {
  return WaitFor(
      [&] {
        loop_.restart();
        loop_.run_for(std::chrono::milliseconds(5));
        return done();
      },
      60);
}

std::unique_ptr<session::Run> Programs::Prepare() {
  session::RunIo io;
  io.group = session::TakeGroup(groups_, plan_).value();
  auto program = std::make_unique<session::Run>(loop_, plan_, backend_, std::move(io));
  std::optional<Result<void>> prepared;
  const auto prepare = [&]() -> asio::awaitable<void> { prepared = co_await program->Prepare(); };
  asio::co_spawn(loop_, prepare(), asio::detached);
  EXPECT_TRUE(RunUntil([&] { return prepared.has_value(); }));
  EXPECT_TRUE(prepared && *prepared) << (prepared ? prepared->error().what : "");
  return program;
}

Result<session::RunResult> Programs::Go(session::Run& program, std::string code,
                                        std::uint64_t time_ms) {
  std::optional<Result<session::RunResult>> result;
  const auto go = [&]() -> asio::awaitable<void> {
    session::Task task{.code = std::move(code), .time_ms = time_ms};
    result = co_await program.Go(std::move(task));
  };
  asio::co_spawn(loop_, go(), asio::detached);
  loop_.restart();
  while (!result && loop_.run_one() > 0) {
  }
  return *std::move(result);
}

pid_t WaitForProgram(const std::string& name) {
  pid_t found = 0;
  const auto waits = [&] {
    for (const ProcessInfo& each : DescendantsOf(::getpid())) {
      if (each.name == name && each.state == 'S') found = each.pid;
    }
    return found != 0;
  };
  (void)WaitFor(waits, 30);
  return found;
}

}  // namespace igloo::testing
