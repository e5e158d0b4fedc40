#include "network/client_hello.h"

#include <cstdint>

namespace igloo::network {

namespace {

constexpr std::uint8_t kHandshake = 22, kMajor = 3, kClientHelloType = 1, kHostName = 0;
constexpr std::uint16_t kServerNameExtension = 0;
constexpr std::size_t kRecordHeader = 5, kMessageHeader = 4, kLongestRecord = 1U << 14;

std::uint8_t At(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

/// Reads forward; after the first thing that does not fit, everything is empty and ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::size_t Number(unsigned bytes) {
    std::size_t value = 0;
    for (const char c : Take(bytes)) value = value << 8 | static_cast<std::uint8_t>(c);
    return value;
  }
  std::string_view Take(std::size_t count) {
    if (!ok_ || rest_.size() < count) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  /// A vector with a length of `bytes` in front.
  std::string_view Vector(unsigned bytes) { return Take(Number(bytes)); }

  bool ok() const { return ok_; }
  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

std::unexpected<std::string> Bad(const char* reason) {
  return std::unexpected(std::string(reason));
}

/// One name of type host_name, and nothing else.
std::expected<std::string, std::string> ParseServerName(std::string_view extension) {
  Reader outer(extension);
  Reader list(outer.Vector(2));
  const std::size_t type = list.Number(1);
  const std::string_view name = list.Vector(2);
  if (!outer.ok() || !outer.AtEnd() || !list.ok() || !list.AtEnd() || type != kHostName ||
      name.empty()) {
    return Bad("the server name is not exactly one name");
  }
  return std::string(name);
}

std::expected<ClientHello, std::string> ParseBody(std::string_view body) {
  Reader reader(body);
  reader.Take(2 + 32);  // version, random
  reader.Vector(1);     // session
  reader.Vector(2);     // cipher suites
  reader.Vector(1);     // compression methods
  ClientHello hello;
  if (reader.ok() && reader.AtEnd()) return hello;  // older than extensions
  Reader extensions(reader.Vector(2));
  if (!reader.ok() || !reader.AtEnd()) return Bad("the ClientHello is malformed");
  while (extensions.ok() && !extensions.AtEnd()) {
    const std::size_t type = extensions.Number(2);
    const std::string_view extension = extensions.Vector(2);
    if (!extensions.ok() || type != kServerNameExtension) continue;
    if (hello.server_name) return Bad("there are two server names");
    auto name = ParseServerName(extension);
    if (!name) return std::unexpected(name.error());
    hello.server_name = *std::move(name);
  }
  if (!extensions.ok()) return Bad("the extensions are malformed");
  return hello;
}

}  // namespace

bool LooksLikeTls(std::string_view bytes) {
  return !bytes.empty() && At(bytes, 0) == kHandshake &&
         (bytes.size() < 2 || At(bytes, 1) == kMajor);
}

std::expected<std::optional<ClientHello>, std::string> ParseClientHello(std::string_view bytes) {
  std::string message;
  while (true) {
    if (message.size() >= kMessageHeader) {
      if (At(message, 0) != kClientHelloType) return Bad("the first message is no ClientHello");
      Reader header(std::string_view(message).substr(1));
      const std::size_t size = header.Number(3);
      if (size > kLongestClientHello) return Bad("the ClientHello is too long");
      if (message.size() >= kMessageHeader + size) {
        auto hello = ParseBody(std::string_view(message).substr(kMessageHeader, size));
        if (!hello) return std::unexpected(hello.error());
        return *std::move(hello);
      }
    }
    if (bytes.empty()) return std::nullopt;
    if (!LooksLikeTls(bytes)) return Bad("this is no TLS record of a handshake");
    if (bytes.size() < kRecordHeader) return std::nullopt;
    Reader header(bytes.substr(3));
    const std::size_t size = header.Number(2);
    if (size == 0 || size > kLongestRecord) return Bad("a TLS record has an impossible length");
    // A record that has not come whole may already hold all that is looked for.
    const std::string_view fragment = bytes.substr(kRecordHeader, size);
    message += fragment;
    bytes.remove_prefix(kRecordHeader + fragment.size());
  }
}

}  // namespace igloo::network
