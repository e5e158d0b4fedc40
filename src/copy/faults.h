#pragma once

#include <linux/userfaultfd.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/error.h"
#include "base/unique_fd.h"
#include "copy/address_space.h"
#include "copy/tracee.h"

namespace igloo::copy {

/// Places in another process's memory where it waits, when it comes there, until it is given what
/// belongs there (userfaultfd). The kernel tells of everything that it does to such memory, and it
/// waits until that was heard. Closing the last descriptor makes what was never given zeros.
class Faults {
 public:
  explicit Faults(UniqueFd fd) : fd_(std::move(fd)) {}

  /// Has a process that is held make its own; it keeps none of it, nor does any other process that
  /// had descriptors in common with it: from here on it has its own. Reads nothing of its memory.
  /// None where this user or this kernel has no such thing. When this fails, the process may have
  /// been ended.
  static Result<std::optional<Faults>> Of(const Tracee& tracee, const AddressSpace& memory);

  Result<void> Register(std::uint64_t at, std::uint64_t size) const;

  enum class Outcome {
    kDone,
    kChanging,  ///< hear first what has happened, then try again
    kGone,      ///< the process is
  };
  /// What is there already stays as it is.
  Result<Outcome> Give(std::uint64_t at, const char* bytes, std::size_t size) const;
  Result<Outcome> GiveZeros(std::uint64_t page) const;

  /// The next that it waits at, or waits to tell; nothing: there is none now.
  Result<std::optional<uffd_msg>> Hear() const;

  int fd() const { return fd_.get(); }

 private:
  void Wake(std::uint64_t page) const;

  UniqueFd fd_;
};

}  // namespace igloo::copy
