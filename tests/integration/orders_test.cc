// What igloo-init is told, and in which order, played against a sandbox that is slow to listen.

#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <array>

#include "backend/backend.h"
#include "base/file.h"
#include "session/asio.h"
#include "session/run.h"
#include "wire/host.h"

namespace igloo::testing {
namespace {

namespace asio = boost::asio;

/// A sandbox that never says anything about its set-up.
class SilentSandbox : public backend::Sandbox {
 public:
  int setup_fd() const override { return -1; }
  Result<void> ReadSetup() override { return {}; }
  void Kill() override {}
  Error WhyGone() override { return {Errc::kFailedPrecondition, "gone as the test wanted", {}, 0}; }
};

/// Keeps the sandbox's ends of everything for the test.
class KeepingBackend : public backend::Backend {
 public:
  Result<std::unique_ptr<backend::Sandbox>> Start(const sandbox::Plan&,
                                                  backend::Channels given) override {
    channels = std::move(given);
    return std::make_unique<SilentSandbox>();
  }
  backend::Channels channels = {};
};

/// Reads what there is now.
std::string ReadAvailable(int fd) {
  std::string bytes;
  std::array<char, 65536> buffer;
  pollfd state{fd, POLLIN, 0};
  while (::poll(&state, 1, 0) > 0) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count <= 0) break;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return bytes;
}

std::string Simple(wire::ToInit kind) { return std::string(1, static_cast<char>(kind)); }

TEST(Orders, NeverStandInTheMiddleOfTheStartMessage) {
  // Far more than a socket holds, so that the rest waits for a reader.
  sandbox::Plan plan;
  plan.payload.argv.assign(20, std::string(100'000, 'x'));
  plan.payload.cwd = "/";
  asio::io_context loop(1);
  KeepingBackend backend;
  session::Run run(loop, plan, backend, {});
  std::optional<Result<session::RunResult>> ended;
  asio::co_spawn(loop, run.Execute(), [&](std::exception_ptr, Result<session::RunResult> value) {
    ended = std::move(value);
  });
  loop.poll();
  run.Interrupt();
  run.Kill();

  wire::FrameBuffer frames;
  std::vector<std::string> received;
  const int control = backend.channels.control.get();
  for (int idle = 0; idle < 100 && received.size() < 3;) {
    loop.poll();
    const std::string bytes = ReadAvailable(control);
    idle = bytes.empty() ? idle + 1 : 0;
    frames.Append(bytes);
    for (;;) {
      const auto payload = frames.Next();
      ASSERT_TRUE(payload) << payload.error().what;
      if (payload->empty()) break;
      received.push_back(*payload);
    }
  }
  ASSERT_EQ(received.size(), 3U);
  EXPECT_GT(received[0].size(), 2'000'000U);
  EXPECT_EQ(received[1], Simple(wire::ToInit::kInterrupt));
  EXPECT_EQ(received[2], Simple(wire::ToInit::kKill));

  // Once the start message is out, words go at once.
  run.Interrupt();
  EXPECT_EQ(ReadAvailable(control), wire::EncodeSimple(wire::ToInit::kInterrupt));

  backend.channels = {};
  while (!ended) loop.run_one();
  ASSERT_FALSE(*ended);
  EXPECT_EQ(ended->error().what, "gone as the test wanted");
}

TEST(Orders, BeforeTheStartAreNotLost) {
  sandbox::Plan plan;
  plan.payload.argv = {"/bin/true"};
  plan.payload.cwd = "/";
  asio::io_context loop(1);
  KeepingBackend backend;
  session::Run run(loop, plan, backend, {});
  run.Kill();
  asio::co_spawn(loop, run.Execute(), asio::detached);
  loop.poll();
  wire::FrameBuffer frames;
  frames.Append(ReadAvailable(backend.channels.control.get()));
  EXPECT_EQ(frames.Next().value().front(), static_cast<char>(wire::ToInit::kStart));
  EXPECT_EQ(frames.Next().value(), Simple(wire::ToInit::kKill));
  backend.channels = {};
  loop.run();
}

}  // namespace
}  // namespace igloo::testing
