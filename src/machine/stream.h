#pragma once

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

namespace igloo::machine {

// A port of a machine is never closed while the machine lives, so streams travel in pieces: a
// length of four bytes, big end first, then so many bytes. A length of 0 is the end of the stream.
// Both sides of a port use this: the relay beside the emulator, and the machine's first process.

inline constexpr size_t kPiece = 32u << 10;

/// Takes what a descriptor gives to a port.
class ToPort {
 public:
  /// Owns `local`. `port` is the caller's.
  void Open(int local, int port);
  /// The end has been sent.
  bool over() const { return local_ < 0 && sent_ == size_; }
  /// Fills in what it waits for: two entries.
  void Watch(pollfd* fds) const;
  /// Does what it can after a poll. False: the port is gone.
  bool Move(const pollfd* fds);

 private:
  bool Fill();
  bool Send();
  int local_ = -1, port_ = -1;
  size_t size_ = 0, sent_ = 0;
  unsigned char bytes_[4 + kPiece];
};

/// Takes what a port gives to a descriptor. What nobody reads any more is dropped.
class FromPort {
 public:
  void Open(int local, int port);
  bool over() const { return port_ < 0 && sent_ == size_; }
  void Watch(pollfd* fds) const;
  /// False: the port is gone, or what came is no stream.
  bool Move(const pollfd* fds);

 private:
  bool Fill();
  bool Put();
  void CloseLocal();
  int local_ = -1, port_ = -1;
  unsigned char header_[4];
  size_t header_size_ = 0;
  size_t left_ = 0;  ///< of the piece
  size_t size_ = 0, sent_ = 0;
  unsigned char bytes_[kPiece];
};

void SetNonBlocking(int fd);

/// Keeps the order between streams that one program writes: what it printed arrives before what it
/// answered afterwards. Whoever polls looks at answers first, and at output behind them: an answer
/// that is seen then has its output in front of it, which moves first.
class Order {
 public:
  /// `output`, `error`: what a poll said of these two. Whether answers have to wait for another
  /// round. They do not wait for output that cannot move, nor for one that never ends.
  bool AnswersWait(const pollfd* output, const pollfd* error);

 private:
  static constexpr unsigned kMostRounds = 256;
  unsigned rounds_ = 0;
};

}  // namespace igloo::machine
