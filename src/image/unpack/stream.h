#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "base/sha256.h"
#include "image/limits.h"

namespace igloo::image::unpack {

/// Bytes, one after the other.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Some of the next ones; 0 only at the end.
  virtual Result<std::size_t> Read(std::span<char> into) = 0;
};

/// What all layers of an image may still take.
struct Budget {
  explicit Budget(const Limits& of) : limits(of), entries(of.entries), bytes(of.bytes) {}
  Limits limits;
  std::uint64_t entries;
  std::uint64_t bytes;
};

/// A file as it lies on disk: counts and hashes what passes.
class FileStream : public Stream {
 public:
  explicit FileStream(int fd) : fd_(fd) {}
  Result<std::size_t> Read(std::span<char> into) override;
  /// Reads what is left, for its digest.
  Result<void> Drain();
  std::uint64_t count() const { return count_; }
  std::string Digest() { return ToHex(hasher_.Finish()); }

 private:
  int fd_;
  std::uint64_t count_ = 0;
  Sha256Hasher hasher_ = {};
};

/// What `packed` holds once unpacked: gzip, zstd or as it is, by its first bytes. Never gives more
/// than the budget has, nor out of all proportion to what was packed.
class Unpacked : public Stream {
 public:
  Unpacked(FileStream& packed, Budget& budget);
  ~Unpacked() override;
  Result<std::size_t> Read(std::span<char> into) override;

 private:
  class Decoder;
  class Gzip;
  class Zstd;

  Result<void> Begin();
  Result<void> Refill();
  Result<std::size_t> Decode(std::span<char> into);

  FileStream& packed_;
  Budget& budget_;
  // Without an initializer, for which g++ 14 wants to know all of Decoder.
  std::unique_ptr<Decoder> decoder_;  ///< null: as it is
  bool begun_ = false, ended_ = false;
  std::array<char, 65536> buffer_ = {};
  std::span<const char> input_ = {};  ///< of the buffer, not decoded yet
  std::uint64_t given_ = 0;
};

}  // namespace igloo::image::unpack
