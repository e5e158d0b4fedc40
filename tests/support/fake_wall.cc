#include "support/fake_wall.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <iterator>
#include <thread>
#include <vector>

#include "base/file.h"
#include "wire/frame.h"

namespace igloo::testing {
namespace {

constexpr wall::Wall kFake = {
    .name = "fake", .description = "keeps nothing out, for tests", .served = true};

/// Reads the start message, as igloo-init does; the run that it belongs to.
std::optional<wire::Nonce> ReadStart(int control) {
  wire::FrameBuffer frames;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = ::recv(control, buffer.data(), buffer.size(), 0);
    if (count <= 0) return std::nullopt;
    frames.Append({buffer.data(), static_cast<std::size_t>(count)});
    const auto payload = frames.Next();
    if (!payload) return std::nullopt;
    if (payload->empty()) continue;
    wire::Fields fields(payload->data(), payload->size());
    if (fields.U8() != static_cast<std::uint8_t>(wire::ToInit::kStart)) return std::nullopt;
    wire::Nonce nonce;
    nonce.high = fields.U64();
    nonce.low = fields.U64();
    return nonce;
  }
}

class FakeSandbox : public backend::Sandbox {
 public:
  FakeSandbox(const sandbox::Plan& plan, backend::Channels channels)
      : channels_(std::move(channels)), thread_([this, argv = plan.payload.argv] { Play(argv); }) {}
  ~FakeSandbox() override {
    FakeSandbox::Kill();
    thread_.join();
  }

  int setup_fd() const override { return -1; }
  Result<void> ReadSetup() override { return {}; }
  void Kill() override { ::shutdown(channels_.control.get(), SHUT_RDWR); }
  Error WhyGone() override { return {Errc::kFailedPrecondition, "the fake was killed", {}, 0}; }

 private:
  void Play(const std::vector<std::string>& argv) {
    const auto nonce = ReadStart(channels_.control.get());
    if (!nonce) return;
    std::string text = "not run:";
    for (const std::string& word : argv) text += " " + word;
    (void)WriteAll(channels_.standard_output.get(), text + "\n");
    channels_.standard_output.Reset();
    channels_.standard_error.Reset();
    const std::string report = wire::EncodeReport(wire::Ended{.nonce = *nonce, .status = 7});
    (void)!::send(channels_.control.get(), report.data(), report.size(), MSG_NOSIGNAL);
  }

  backend::Channels channels_;
  std::thread thread_;
};

class FakeBackend : public backend::Backend {
 public:
  Result<std::unique_ptr<backend::Sandbox>> Start(const sandbox::Plan& plan,
                                                  backend::Channels channels) override {
    return std::make_unique<FakeSandbox>(plan, std::move(channels));
  }
};

Result<std::unique_ptr<backend::Backend>> MakeFake(backend::Options) {
  return std::make_unique<FakeBackend>();
}

template <class Row>
std::vector<Row> With(std::span<const Row> rows, const Row& row) {
  std::vector<Row> all(rows.begin(), rows.end());
  all.push_back(row);
  return all;
}

}  // namespace

std::span<const wall::Wall> WallsWithFake() {
  static const std::vector<wall::Wall> walls = With(wall::All(), kFake);
  return walls;
}

std::span<const backend::Factory> FactoriesWithFake() {
  static const std::vector<backend::Factory> factories =
      With(backend::Factories(), backend::Factory{.wall = "fake", .make = MakeFake});
  return factories;
}

}  // namespace igloo::testing
