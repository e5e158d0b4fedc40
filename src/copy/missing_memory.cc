#include "copy/missing_memory.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace igloo::copy {

void MissingMemory::Add(const Piece& piece) {
  if (piece.size > 0) pieces_.emplace(piece.at, Rest{piece.size, piece.from});
}

std::optional<MissingMemory::Piece> MissingMemory::Around(std::uint64_t at,
                                                          std::uint64_t most) const {
  auto found = pieces_.upper_bound(at);
  if (found == pieces_.begin()) return std::nullopt;
  --found;
  const auto& [begin, rest] = *found;
  if (at - begin >= rest.size) return std::nullopt;
  const std::uint64_t block = at & ~(most - 1);
  const std::uint64_t first = std::max(begin, block);
  // Not by its end: the last block of all ends where numbers do.
  const std::uint64_t size = std::min(rest.size - (first - begin), most - (first - block));
  return Piece{.at = first, .size = size, .from = rest.from + (first - begin)};
}

std::optional<MissingMemory::Piece> MissingMemory::First(std::uint64_t most) const {
  if (pieces_.empty()) return std::nullopt;
  return Around(pieces_.begin()->first, most);
}

MissingMemory::Pieces::iterator MissingMemory::Cut(std::uint64_t at) {
  auto next = pieces_.lower_bound(at);
  if (next == pieces_.begin()) return next;
  auto& [begin, rest] = *std::prev(next);
  const std::uint64_t before = at - begin;
  if (before >= rest.size) return next;
  const Rest behind{rest.size - before, rest.from + before};
  rest.size = before;
  return pieces_.emplace_hint(next, at, behind);
}

void MissingMemory::Remove(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  Cut(begin);
  const auto last = Cut(end);
  pieces_.erase(pieces_.lower_bound(begin), last);
}

void MissingMemory::Move(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  Cut(from);
  const auto last = Cut(from + size);
  std::vector<Piece> moved;
  for (auto each = pieces_.lower_bound(from); each != last; ++each) {
    moved.push_back(
        {.at = each->first - from + to, .size = each->second.size, .from = each->second.from});
  }
  Remove(from, from + size);
  Remove(to, to + size);
  for (const Piece& piece : moved) Add(piece);
}

}  // namespace igloo::copy
