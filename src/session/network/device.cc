#include "session/network/device.h"

#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/file.h"
#include "base/text.h"
#include "environment/device.h"
#include "session/asio.h"

namespace igloo::session {

namespace asio = boost::asio;

namespace {

/// It takes some hundredths of a second; a busy machine is given more.
constexpr auto kMostTime = std::chrono::seconds(20);
constexpr std::size_t kMostWords = 4096;

/// Whether a line is a number alone: that of its process, written once everything is in place.
bool SaysReady(std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = words.find('\n');
    if (end == std::string_view::npos) return false;
    const std::string_view line = words.substr(0, end);
    if (!line.empty() && std::ranges::all_of(line, [](char c) { return c >= '0' && c <= '9'; })) {
      return true;
    }
    words.remove_prefix(end + 1);
  }
  return false;
}

/// SECURITY: no port of either side is opened on the other, and no address of the sandbox's stands
/// for one of the host's. Later versions close all descriptors but three, so these are what it
/// gets: the user namespace, the network namespace and where it says that it is ready.
std::vector<std::string> Arguments(const sandbox::Device& device) {
  namespace own = sandbox::own_network;
  std::vector<std::string> words = {"pasta",
                                    "--foreground",
                                    "--quiet",
                                    "--ipv4-only",
                                    "--config-net",
                                    "--no-netns-quit",
                                    "--no-map-gw",
                                    "--pid",
                                    "/proc/self/fd/2",
                                    "--userns",
                                    "/proc/self/fd/0",
                                    "--netns",
                                    "/proc/self/fd/1",
                                    "--ns-ifname",
                                    "outer",
                                    "--address",
                                    own::kEdge,
                                    "--netmask",
                                    "31",
                                    "--gateway",
                                    own::kResolver,
                                    "--tcp-ports",
                                    "none",
                                    "--udp-ports",
                                    "none",
                                    "--tcp-ns",
                                    "none",
                                    "--udp-ns",
                                    "none",
                                    "--no-dhcp",
                                    "--no-ra",
                                    "--no-ndp",
                                    "--no-dhcpv6"};
  if (device.resolver == own::kResolver) {
    words.insert(words.end(), {"--dns-forward", own::kResolver});
  }
  // The sandbox's user namespace belongs to root then, and nobody else may enter it. It keeps no
  // right outside of that.
  if (::geteuid() == 0) words.insert(words.end(), {"--runas", "0:0"});
  return words;
}

}  // namespace

Device::Device(const asio::any_io_executor& executor, const sandbox::Device& device)
    : device_(device), words_(executor), end_(executor), limit_(executor) {}

Result<void> Device::Start(UniqueFd edge) {
  if (!edge) return Fail(Errc::kProtocol, "the sandbox did not hand out the edge of its network");
  const UniqueFd user(::ioctl(edge.get(), NS_GET_USERNS));
  if (!user) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot find whose network the sandbox's is");
  }
  IGLOO_ASSIGN(FdPair words, MakePipe());
  IGLOO_TRY(SetNonBlocking(words.first.get()));
  const SpawnOptions options{.program = device_.carrier,
                             .argv = Arguments(device_),
                             .fds = {{user.get(), STDIN_FILENO},
                                     {edge.get(), STDOUT_FILENO},
                                     {words.second.get(), STDERR_FILENO}},
                             .own_session = true};
  auto started = Spawn(options);
  if (!started) return Wrap("cannot start pasta", std::move(started).error());
  child_ = *std::move(started);
  words_.assign(words.first.Release());
  return {};
}

asio::awaitable<Result<void>> Device::Raise(UniqueFd edge) {
  if (auto started = Start(std::move(edge)); !started) {
    co_return std::unexpected(std::move(started).error());
  }
  limit_.expires_after(kMostTime);
  limit_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    late_ = true;
    words_.cancel();
  });
  std::string said;
  std::array<char, 512> buffer;
  while (!SaysReady(said) && said.size() < kMostWords) {
    boost::system::error_code error;
    auto token = Redirect(error);
    const auto space = asio::buffer(buffer);
    const std::size_t count = co_await words_.async_read_some(space, token);
    if (error) break;
    said.append(buffer.data(), count);
  }
  const bool ready = SaysReady(said);
  limit_.cancel();
  // What it says later nobody reads, and a full pipe would stop it.
  if (words_.is_open()) words_.close();
  if (ready) co_return Result<void>();
  child_ = Child();
  std::ranges::replace(said, '\n', ' ');
  co_return Fail(Errc::kFailedPrecondition,
                 late_ ? "pasta did not give the sandbox a device in time"
                       : "pasta could not give the sandbox a device: " + Printable(said),
                 "'--network allow' needs no pasta");
}

asio::awaitable<void> Device::Watch() {
  end_.assign(Duplicate(child_.pidfd()).Release());
  boost::system::error_code error;
  auto token = Redirect(error);
  co_await end_.async_wait(asio::posix::descriptor_base::wait_read, token);
  child_ = Child();
}

void Device::Close() {
  boost::system::error_code ignored;
  if (end_.is_open()) end_.close(ignored);
  if (words_.is_open()) words_.close(ignored);
  limit_.cancel();
  child_ = Child();
}

std::string MissingDevice(const sandbox::Network& network, std::string_view resolver,
                          const wall::Wall& wall) {
  const auto* connected = std::get_if<sandbox::ConnectedNetwork>(&network);
  if (connected == nullptr || connected->tier != "internet" || connected->device) return "";
  const auto found = environment::FindDevice(resolver, connected->rules);
  const std::string why = found ? std::string(wall.name) + " cannot give it a device"
                                : found.error().what + " (" + found.error().hint + ")";
  return "the network is there for programs that use the proxy, and for no others: " + why;
}

}  // namespace igloo::session
