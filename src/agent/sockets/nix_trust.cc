#include "agent/sockets/nix_trust.h"

#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "base/file.h"

namespace igloo::agent {
namespace {

// The worker protocol: numbers of eight bytes, the lowest first; text is padded to eight bytes.
constexpr std::uint64_t kClientMagic = 0x6e697863, kDaemonMagic = 0x6478696f;
/// The first version in which the daemon tells; what came later is not asked for.
constexpr std::uint64_t kTellsTrust = 1 << 8 | 35;
constexpr std::size_t kMostText = 4096;
constexpr int kAnswerMillis = 5'000;

std::string Encoded(std::initializer_list<std::uint64_t> numbers) {
  std::string bytes;
  for (const std::uint64_t number : numbers) {
    for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
  }
  return bytes;
}

Result<std::string> Read(int fd, std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) {
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, kAnswerMillis) <= 0) {
      return Fail(Errc::kTimeout, "the Nix daemon does not answer");
    }
    char buffer[512];
    const ssize_t count = ::read(fd, buffer, std::min(sizeof buffer, size - bytes.size()));
    if (count <= 0) return Fail(Errc::kProtocol, "the Nix daemon closes the connection");
    bytes.append(buffer, static_cast<std::size_t>(count));
  }
  return bytes;
}

Result<std::uint64_t> ReadNumber(int fd) {
  IGLOO_ASSIGN(const std::string bytes, Read(fd, 8));
  std::uint64_t number = 0;
  for (std::size_t i = 8; i > 0; --i)
    number = number << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return number;
}

}  // namespace

Result<NixTrust> AskNixTrust(int from_daemon, int to_daemon) {
  IGLOO_TRY(WriteAll(to_daemon, Encoded({kClientMagic})));
  IGLOO_ASSIGN(const std::uint64_t magic, ReadNumber(from_daemon));
  IGLOO_ASSIGN(const std::uint64_t version, ReadNumber(from_daemon));
  if (magic != kDaemonMagic) return Fail(Errc::kProtocol, "this is no Nix daemon");
  if (version < kTellsTrust) return NixTrust::kUnknown;
  // Our version, and two settings of the past.
  IGLOO_TRY(WriteAll(to_daemon, Encoded({kTellsTrust, 0, 0})));
  IGLOO_ASSIGN(const std::uint64_t size, ReadNumber(from_daemon));
  if (size > kMostText) return Fail(Errc::kProtocol, "the Nix daemon's version is too long");
  IGLOO_TRY(Read(from_daemon, (size + 7) / 8 * 8));
  IGLOO_ASSIGN(const std::uint64_t trusted, ReadNumber(from_daemon));
  if (trusted == 2) return NixTrust::kUntrusted;
  return trusted == 1 ? NixTrust::kTrusted : NixTrust::kUnknown;
}

}  // namespace igloo::agent
