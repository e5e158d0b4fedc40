#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "copy/address_space.h"
#include "copy/descriptor_holder.h"
#include "copy/faults.h"
#include "copy/missing_memory.h"

namespace igloo::copy {

/// Brings a process that goes on already the memory that it was promised: what it waits for at
/// once, the rest one after the other. The same for every child that it forks meanwhile. Memory
/// that it moves is brought to the new place; what it gives up is not brought at all.
/// SECURITY: however this ends, nobody sees zeros in the place of what was promised.
class PageSupplier {
 public:
  /// `from` holds still until this is dropped. `init`: a pidfd of the igloo-init of whoever gets
  /// it, which outlives this.
  static Result<PageSupplier> Make(AddressSpace from, Faults to, MissingMemory missing, int init);

  /// Returns when everything is there, or nobody to whom it was promised is. When it fails, those
  /// wait until they are killed; only then may this be dropped.
  Result<void> Bring();

  /// Instead of dropping it: whoever waits goes on to wait, also without this process.
  void Abandon() &&;

 private:
  /// The memory of one process.
  struct Space {
    Faults faults;
    MissingMemory missing = {};
    std::vector<std::uint64_t> awaited = {};  ///< places at which it waits
    bool gone = false;
  };

  PageSupplier(AddressSpace from, int init) : from_(std::move(from)), init_(init) {}

  bool Settled() const;
  Result<void> Listen(std::size_t index);
  Result<void> Take(std::size_t index, const uffd_msg& said);
  /// A child is a copy, and misses the same.
  Result<void> Adopt(std::size_t index, UniqueFd faults);
  Result<void> Serve(Space& space);
  Result<void> BringNext();
  Result<Faults::Outcome> BringTo(Space& space, std::uint64_t page);
  Result<Faults::Outcome> BringPiece(Space& space, const MissingMemory::Piece& piece);
  /// Everything that must not end with this process.
  Result<void> KeepAll();

  AddressSpace from_;
  int init_;
  std::size_t next_ = 0;  ///< whose turn it is
  std::vector<Space> spaces_ = {};
  std::unique_ptr<DescriptorHolder> holder_ = {};  // ends before the descriptors are closed here
  std::string buffer_ = {};
};

}  // namespace igloo::copy
