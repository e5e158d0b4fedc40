#include "machine/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace igloo::machine {
namespace {

/// What a call that would have to wait answers.
bool MustWait(ssize_t count) {
  return count < 0 && (errno == EAGAIN || errno == EINTR || errno == EWOULDBLOCK);
}

pollfd Waits(int fd, bool wanted, short what) { return {wanted ? fd : -1, what, 0}; }

}  // namespace

void SetNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

void ToPort::Open(int local, int port) {
  local_ = local;
  port_ = port;
  SetNonBlocking(local);
}

void ToPort::Watch(pollfd* fds) const {
  fds[0] = Waits(local_, sent_ == size_, POLLIN);
  fds[1] = Waits(port_, sent_ < size_, POLLOUT);
}

bool ToPort::Move(const pollfd* fds) {
  if (fds[0].fd >= 0 && fds[0].revents != 0 && !Fill()) return false;
  return sent_ == size_ || Send();
}

bool ToPort::Fill() {
  const ssize_t count = read(local_, bytes_ + 4, kPiece);
  if (MustWait(count)) return true;
  // Whatever ended it, it has ended.
  const size_t size = count > 0 ? static_cast<size_t>(count) : 0;
  for (int i = 0; i < 4; ++i) bytes_[i] = static_cast<unsigned char>(size >> (24 - 8 * i));
  size_ = 4 + size;
  sent_ = 0;
  if (size > 0) return true;
  close(local_);
  local_ = -1;
  return true;
}

bool ToPort::Send() {
  const ssize_t count = write(port_, bytes_ + sent_, size_ - sent_);
  if (MustWait(count)) return true;
  if (count <= 0) return false;
  sent_ += static_cast<size_t>(count);
  return true;
}

void FromPort::Open(int local, int port) {
  local_ = local;
  port_ = port;
  SetNonBlocking(local);
}

void FromPort::Watch(pollfd* fds) const {
  fds[0] = Waits(port_, port_ >= 0 && sent_ == size_, POLLIN);
  fds[1] = Waits(local_, local_ >= 0 && sent_ < size_, POLLOUT);
}

bool FromPort::Move(const pollfd* fds) {
  if (fds[0].fd >= 0 && fds[0].revents != 0 && !Fill()) return false;
  return sent_ == size_ || Put();
}

bool FromPort::Fill() {
  const bool header = left_ == 0;
  unsigned char* const to = header ? header_ + header_size_ : bytes_;
  const size_t most = header ? sizeof header_ - header_size_ : left_;
  const ssize_t count = read(port_, to, most);
  if (MustWait(count)) return true;
  if (count <= 0) return false;
  if (!header) {
    size_ = static_cast<size_t>(count);
    sent_ = 0;
    left_ -= size_;
    return true;
  }
  header_size_ += static_cast<size_t>(count);
  if (header_size_ < sizeof header_) return true;
  header_size_ = 0;
  for (const unsigned char each : header_) left_ = left_ << 8 | each;
  if (left_ > kPiece) return false;
  if (left_ > 0) return true;
  port_ = -1;
  CloseLocal();
  return true;
}

bool FromPort::Put() {
  const ssize_t count = local_ < 0 ? static_cast<ssize_t>(size_ - sent_)
                                   : write(local_, bytes_ + sent_, size_ - sent_);
  if (MustWait(count)) return true;
  if (count > 0) {
    sent_ += static_cast<size_t>(count);
    return true;
  }
  CloseLocal();
  sent_ = size_;
  return true;
}

void FromPort::CloseLocal() {
  if (local_ < 0) return;
  shutdown(local_, SHUT_WR);  // of a socket, whose other half goes on
  close(local_);
  local_ = -1;
}

bool Order::AnswersWait(const pollfd* output, const pollfd* error) {
  const bool moves =
      (output[0].revents | output[1].revents | error[0].revents | error[1].revents) != 0;
  rounds_ = moves && rounds_ < kMostRounds ? rounds_ + 1 : 0;
  return rounds_ != 0;
}

}  // namespace igloo::machine
