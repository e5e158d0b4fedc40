#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"
#include "network/address.h"
#include "proxy/asio.h"

namespace igloo::proxy {

/// Gives the memory of a text back, which clear() and assignments keep.
inline void Free(std::string& text) { std::string().swap(text); }

/// Bytes in both directions: a socket, or TLS over one. One reader and one writer at a time.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Waits for bytes and adds what is there, 64 KB at most, so that who waits holds no room for
  /// them. How many; 0: its end, a failure, or closed.
  virtual asio::awaitable<std::size_t> Read(std::string& into) = 0;
  virtual asio::awaitable<bool> Write(std::string_view bytes) = 0;
  /// Ends every wait on it.
  virtual void Close() = 0;
  /// Whether the other side has closed it, or said something that nobody asked for.
  virtual bool IsStale() const = 0;
  /// The socket, when its bytes are the stream's.
  virtual class Socket* plain() { return nullptr; }
};

class Socket final : public ByteStream {
 public:
  /// `fd` does not block: everything would wait with it.
  Socket(const asio::any_io_executor& executor, UniqueFd fd);

  asio::awaitable<std::size_t> Read(std::string& into) override;
  asio::awaitable<bool> Write(std::string_view bytes) override;
  void Close() override;
  bool IsStale() const override;
  Socket* plain() override { return this; }

  /// Until there may be something to read, or room to write; false when it was closed meanwhile.
  asio::awaitable<bool> Readable();
  asio::awaitable<bool> Writable();
  /// Wakes whoever waits; the socket stays open.
  void CancelWaits();
  void ShutdownWriting();
  /// Ends what is under way in both directions; the descriptor stays.
  void Abort();
  /// Ends the connection so that what was written last arrives, even at one who is still sending.
  asio::awaitable<void> Finish();

  bool open() const { return descriptor_.is_open(); }
  int fd() { return descriptor_.native_handle(); }
  /// Gives the descriptor back.
  UniqueFd Release();
  /// Forgets that somebody waited for room to write. Asio asks the kernel for it ever after, and
  /// where there always is room, every wait for something else is woken once for nothing.
  void Renew();
  /// Calls a function when the connection breaks while nobody reads or writes it: a side that has
  /// ended, or waits for the other one's answer. It is called only while `owner` lives, who owns
  /// this socket.
  void WhenBroken(std::weak_ptr<void> owner, std::function<void()> broken);

 private:
  asio::awaitable<bool> Wait(asio::posix::descriptor_base::wait_type what);

  asio::posix::stream_descriptor descriptor_;
  /// The last read took all that was there: the next one waits first.
  bool drained_ = true;
};

inline constexpr std::size_t kReadSize = 64U << 10;

/// Calls `read(char*, std::size_t)`, which says how many bytes it has put there, and adds them.
/// They come by way of the stack: a text that is made larger first would be filled with zeros
/// first.
template <class Reader>
auto ReadThrough(std::string& into, Reader read) {
  char buffer[kReadSize];
  const auto count = read(buffer, sizeof buffer);
  if (count > 0) into.append(buffer, static_cast<std::size_t>(count));
  return count;
}

/// For a socket whose connection never leaves this machine: nothing is congested there, and an
/// algorithm that paces what it sends (BBR) takes a third of the throughput. Those that a listener
/// accepts inherit it.
void StayLocal(int fd);
/// Prepares a socket that was made elsewhere, for connections that never leave this machine.
void Adopt(int fd);

/// An address and a port as the kernel takes them.
struct Endpoint {
  network::Address address = {};
  std::uint16_t port = 0;
  bool operator==(const Endpoint&) const = default;
};
std::optional<Endpoint> PeerOf(int fd);
std::optional<Endpoint> SelfOf(int fd);
/// connect(2); errno tells.
int ConnectTo(int fd, const Endpoint& endpoint);

/// A new socket that does not block; `type` is SOCK_STREAM or SOCK_DGRAM.
Result<UniqueFd> NewSocket(network::Family family, int type);
/// Has the kernel ask now and then whether the peer of a silent connection is still there, and
/// break the connection when it is not. Those that a listener accepts inherit it.
void NoticeAbsence(int fd);
/// Whether `fd` is a TCP socket that listens, or one that is not connected.
bool IsListener(int fd);
bool IsUnconnected(int fd);

/// The next connection of a listener; empty when there is none, or none that can be taken now.
UniqueFd Accept(int listener);

/// Waits until `fd` is connected; empty: it is, else errno.
asio::awaitable<int> FinishConnect(Socket& socket);

}  // namespace igloo::proxy
