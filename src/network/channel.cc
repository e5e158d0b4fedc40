#include "network/channel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/descriptors.h"
#include "base/file.h"
#include "base/seal.h"
#include "network/control.h"

namespace igloo::network {

namespace {

/// The first byte of a message: its text follows, or lies in its first descriptor.
constexpr char kInline = 'I', kInFile = 'F';
constexpr std::size_t kLongestInline = 60U << 10;

/// One more than a message may bring: that of a text in a file.
using Room = DescriptorRoom<kMostDescriptors + 1>;

Result<UniqueFd> FileOf(std::string_view text) {
  UniqueFd fd(::memfd_create("igloo-proxy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make a file for a long message");
  }
  IGLOO_TRY(WriteAll(fd.get(), text));
  IGLOO_TRY(SealFile(fd.get(), "cannot seal a long message"));
  return fd;
}

/// SECURITY: sealed, so that what was checked is what is read, and reading never waits.
Result<std::string> TextOf(int fd) {
  const off_t size = ::fcntl(fd, F_GET_SEALS) == kAllSeals ? ::lseek(fd, 0, SEEK_END) : -1;
  if (size < 0 || static_cast<std::size_t>(size) > kLongestMessage) {
    return Fail(Errc::kProtocol, "a long message is not in a sealed file, or too long");
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count =
        ::pread(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (count <= 0) return Fail(Errc::kProtocol, "a long message cannot be read");
    done += static_cast<std::size_t>(count);
  }
  return text;
}

}  // namespace

Result<Sent> SendPacket(int socket, std::string_view text, const std::vector<int>& descriptors) {
  if (text.size() > kLongestMessage || descriptors.size() > kMostDescriptors) {
    return Fail(Errc::kExhausted, "a message for igloo-proxy is too long");
  }
  UniqueFd file;
  std::vector<int> all = descriptors;
  char kind = kInline;
  if (text.size() > kLongestInline) {
    IGLOO_ASSIGN(file, FileOf(text));
    all.insert(all.begin(), file.get());
    kind = kInFile;
    text = {};
  }
  iovec parts[2] = {{&kind, 1}, {const_cast<char*>(text.data()), text.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  Room room;
  room.Send(message, all);
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return Sent::kYes;
  const int saved_errno = errno;
  if (saved_errno == EAGAIN || saved_errno == ENOBUFS) return Sent::kNoRoom;
  return FailSys(saved_errno, "cannot send a message");
}

Result<std::optional<Packet>> ReceivePacket(int socket) {
  std::string text(kLongestInline + 1, '\0');
  iovec part{text.data(), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  Room room;
  room.Receive(message);
  const ssize_t count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (count < 0) {
    const int saved_errno = errno;
    if (saved_errno == EAGAIN || saved_errno == EINTR) return std::nullopt;
    return FailSys(saved_errno, "cannot receive a message");
  }
  Packet packet{.descriptors = DescriptorsOf(message)};
  if (count == 0) return Fail(Errc::kNotFound, "the other side has gone");
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return Fail(Errc::kProtocol, "a message is too long");
  }
  if (text[0] == kInline) {
    packet.text = text.substr(1, static_cast<std::size_t>(count) - 1);
    return packet;
  }
  if (text[0] != kInFile || count != 1 || packet.descriptors.empty()) {
    return Fail(Errc::kProtocol, "a message is of no known kind");
  }
  IGLOO_ASSIGN(packet.text, TextOf(packet.descriptors.front().get()));
  packet.descriptors.erase(packet.descriptors.begin());
  return packet;
}

}  // namespace igloo::network
