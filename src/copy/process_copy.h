#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "copy/address_space.h"
#include "copy/faults.h"
#include "copy/page_supplier.h"
#include "copy/tracee.h"

namespace igloo::copy {

/// Why a session has no fork.
Error CannotFork(std::string why);

/// Whether the copy goes on as soon as the rest can come later.
enum class Haste { kWaits, kGoesOn };

/// One process becomes a copy of the other.
class ProcessCopy {
 public:
  /// `faults`: of the copy, if there can be such.
  ProcessCopy(const Tracee& original, AddressSpace from, Tracee& copy, AddressSpace to,
              std::optional<Faults> faults)
      : original_(original),
        copy_(copy),
        from_(std::move(from)),
        to_(std::move(to)),
        faults_(std::move(faults)) {}

  /// Looks at both.
  Result<void> Prepare(Haste haste);
  Result<void> Perform();

  /// What the copy has to be brought when it goes on, if there is such a thing. From here on it
  /// cannot be made to do anything: it might wait for its own memory.
  Result<std::optional<PageSupplier>> Promise(int init) &&;

  /// Numbers that the original has open mean nothing in the copy, but its objects will close them
  /// some day: each gets something harmless.
  Result<void> PlaceDescriptors(const std::set<int>& numbers, const std::set<int>& own);

 private:
  /// A system call in the copy that must work.
  Result<std::int64_t> Make(long number, std::initializer_list<std::uint64_t> arguments);

  /// The kernel's own pages cannot be copied: they must be where they are.
  Result<void> CheckLayout() const;

  /// A little of the copy's stack that nobody uses.
  Result<std::uint64_t> Scratch() const;

  /// Where the C library keeps the number of the main thread.
  Result<std::uint64_t> FindTidAddress();
  Result<void> SetTid(std::uint64_t address);
  Result<void> RemoveOthers();

  /// The same mapping: what neither has changed since the checkpoint is there already. A file that
  /// both sandboxes show under one name is one file, although each may give it a number of its own.
  bool IsThere(const Region& region) const;

  /// Memory that is nobody's but the original's.
  bool CanComeLater(const Region& region) const;

  /// What the kernel itself looks at when the copy goes on comes now.
  Result<void> CopyHot(const Region& region);
  Result<void> Rebuild(const Region& region);

  /// Memory that is in use from end to end comes in large pages: five hundred fewer to ask for.
  Result<void> PreferLarge(const Region& region);
  Result<void> CopyWindow(const Region& window, bool there);
  Result<void> CopyBytes(const Region& window, std::size_t first, std::size_t last, bool there);

  /// Most pages of both are still the checkpoint's; those that nobody writes to stay so.
  Result<void> WriteChanges(std::uint64_t at);
  bool Differs(std::size_t at) const;

  const Tracee& original_;
  Tracee& copy_;
  AddressSpace from_, to_;
  std::optional<Faults> faults_;
  std::vector<Region> wanted_ = {}, old_ = {};
  std::vector<Region> promised_ = {}, large_ = {};
  std::array<std::uint64_t, 3> hot_ = {};
  std::uint64_t looked_ = 0;
  std::chrono::steady_clock::time_point until_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::string buffer_ = {}, other_ = {};
};

}  // namespace igloo::copy
