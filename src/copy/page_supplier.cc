#include "copy/page_supplier.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace igloo::copy {
namespace {

using Outcome = Faults::Outcome;

/// What is brought at once: more costs whoever waits for another piece, less costs all of them.
constexpr std::uint64_t kPiece = 128U << 10;
/// Of what hostile code can make; an interpreter has a few.
constexpr std::size_t kMostSpaces = 64, kMostPieces = 8192;
constexpr auto kLongest = std::chrono::seconds(30);

Error Lost(const std::string& why) {
  return {Errc::kFailedPrecondition, "its memory is lost: " + why,
          "begin another session and run the same code there", 0};
}

Error OriginalEnded() { return Lost("the session that it was forked from ended too soon"); }

}  // namespace

Result<PageSupplier> PageSupplier::Make(AddressSpace from, Faults to, MissingMemory missing,
                                        int init) {
  PageSupplier supplier(std::move(from), init);
  supplier.buffer_.resize(kPiece);
  supplier.spaces_.push_back({.faults = std::move(to), .missing = std::move(missing)});
  IGLOO_TRY(supplier.KeepAll());
  return supplier;
}

Result<void> PageSupplier::KeepAll() {
  IGLOO_ASSIGN(DescriptorHolder holder, DescriptorHolder::Start(init_));
  for (const Space& space : spaces_) IGLOO_TRY(holder.Keep(space.faults.fd()));
  holder_ = std::make_unique<DescriptorHolder>(std::move(holder));
  return {};
}

bool PageSupplier::Settled() const {
  return std::ranges::all_of(
      spaces_, [](const Space& space) { return space.missing.empty() && space.awaited.empty(); });
}

Result<void> PageSupplier::Bring() {
  const auto until = std::chrono::steady_clock::now() + kLongest;
  while (!Settled()) {
    for (std::size_t i = 0; i < spaces_.size(); ++i) IGLOO_TRY(Listen(i));
    bool waits = false;
    for (Space& space : spaces_) {
      IGLOO_TRY(Serve(space));
      waits = waits || !space.awaited.empty();
    }
    std::erase_if(spaces_, [](const Space& space) { return space.gone; });
    if (waits) {
      std::this_thread::yield();  // for somebody who changes his memory just now
    } else {
      IGLOO_TRY(BringNext());
    }
    if (std::chrono::steady_clock::now() > until) {
      return std::unexpected(Lost("copying it takes too long"));
    }
  }
  return {};
}

void PageSupplier::Abandon() && { holder_->Leave(); }

Result<void> PageSupplier::Listen(std::size_t index) {
  // Hearing of one thing lets the process do the next: not for ever.
  for (int i = 0; i < 64; ++i) {
    IGLOO_ASSIGN(const auto said, spaces_[index].faults.Hear());
    if (!said) return {};
    IGLOO_TRY(Take(index, *said));
  }
  return {};
}

Result<void> PageSupplier::Take(std::size_t index, const uffd_msg& said) {
  Space& space = spaces_[index];
  switch (said.event) {
    case UFFD_EVENT_PAGEFAULT:
      space.awaited.push_back(said.arg.pagefault.address & ~(kPageSize - 1));
      break;
    case UFFD_EVENT_FORK:
      return Adopt(index, UniqueFd(static_cast<int>(said.arg.fork.ufd)));
    case UFFD_EVENT_REMAP:
      space.missing.Move(said.arg.remap.from, said.arg.remap.to, said.arg.remap.len);
      break;
    case UFFD_EVENT_REMOVE:
    case UFFD_EVENT_UNMAP:
      space.missing.Remove(said.arg.remove.start, said.arg.remove.end);
      break;
    default:
      return Fail(Errc::kProtocol, "the kernel says something unknown about memory");
  }
  if (space.missing.pieces() > kMostPieces) {
    return std::unexpected(Lost("its code makes too many pieces of it"));
  }
  return {};
}

Result<void> PageSupplier::Adopt(std::size_t index, UniqueFd faults) {
  spaces_.push_back({.faults = Faults(std::move(faults)), .missing = spaces_[index].missing});
  if (spaces_.size() > kMostSpaces) {
    return std::unexpected(Lost("its code starts too many processes"));
  }
  // Full, perhaps, of those that have ended since.
  if (!holder_->Keep(spaces_.back().faults.fd())) return KeepAll();
  return {};
}

Result<void> PageSupplier::Serve(Space& space) {
  while (!space.awaited.empty() && !space.gone) {
    IGLOO_ASSIGN(const Outcome outcome, BringTo(space, space.awaited.back()));
    if (outcome == Outcome::kChanging) return {};
    space.gone = outcome == Outcome::kGone;
    space.awaited.pop_back();
  }
  return {};
}

Result<void> PageSupplier::BringNext() {
  if (spaces_.empty()) return {};
  Space& space = spaces_[next_++ % spaces_.size()];
  const auto piece = space.missing.First(kPiece);
  if (!piece) return {};
  IGLOO_ASSIGN(const Outcome outcome, BringPiece(space, *piece));
  space.gone = outcome == Outcome::kGone;
  return {};
}

Result<Outcome> PageSupplier::BringTo(Space& space, std::uint64_t page) {
  if (const auto piece = space.missing.Around(page, kPiece)) {
    IGLOO_ASSIGN(const Outcome outcome, BringPiece(space, *piece));
    if (outcome != Outcome::kDone) return outcome;
  }
  // Nothing was ever there, or was given up; what has just come stays.
  return space.faults.GiveZeros(page);
}

Result<Outcome> PageSupplier::BringPiece(Space& space, const MissingMemory::Piece& piece) {
  const Region region{.begin = piece.from, .end = piece.from + piece.size};
  const auto pages = from_.Pages(region);
  if (!pages) return std::unexpected(OriginalEnded());
  const auto used = [&](std::size_t i) { return (*pages)[i] != Page::kAbsent; };
  for (std::size_t i = 0; i < pages->size();) {
    const std::size_t first = i;
    while (i < pages->size() && used(i)) ++i;
    if (const std::size_t size = (i - first) * kPageSize; size > 0) {
      if (!from_.Read(piece.from + first * kPageSize, buffer_.data(), size)) {
        return std::unexpected(OriginalEnded());
      }
      IGLOO_ASSIGN(const Outcome outcome,
                   space.faults.Give(piece.at + first * kPageSize, buffer_.data(), size));
      if (outcome != Outcome::kDone) return outcome;
    }
    while (i < pages->size() && !used(i)) ++i;
  }
  space.missing.Remove(piece.at, piece.at + piece.size);
  return Outcome::kDone;
}

}  // namespace igloo::copy
