#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace igloo::copy {

/// Memory that a process has yet to get: where it goes, and where it lies in the process that it is
/// a copy of. In whole pages.
class MissingMemory {
 public:
  struct Piece {
    std::uint64_t at = 0, size = 0;
    std::uint64_t from = 0;  ///< in the other process
    bool operator==(const Piece&) const = default;
  };

  /// Nothing is missing there yet.
  void Add(const Piece& piece);
  /// What is missing around a place: no more than the block of `most` bytes, a power of two, in
  /// which it lies.
  std::optional<Piece> Around(std::uint64_t at, std::uint64_t most) const;
  /// The next to bring.
  std::optional<Piece> First(std::uint64_t most) const;
  /// It was brought, or nobody wants it any more.
  void Remove(std::uint64_t begin, std::uint64_t end);
  /// The process has moved its memory. What it had at the new place is gone.
  void Move(std::uint64_t from, std::uint64_t to, std::uint64_t size);

  bool empty() const { return pieces_.empty(); }
  std::size_t pieces() const { return pieces_.size(); }

 private:
  struct Rest {
    std::uint64_t size, from;
  };
  using Pieces = std::map<std::uint64_t, Rest>;

  /// Makes `at` a border between pieces; the first one behind it.
  Pieces::iterator Cut(std::uint64_t at);

  Pieces pieces_ = {};
};

}  // namespace igloo::copy
