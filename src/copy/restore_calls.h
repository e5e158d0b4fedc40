#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "checkpoint/format.h"

namespace igloo::copy {

/// The calls that restore a process, and the data that they refer to.
class RestoreCalls {
 public:
  /// `place`: where they will lie in the process that makes them.
  explicit RestoreCalls(std::uint64_t place) : place_(place) {}

  static constexpr std::uint64_t kMostBytes = 8U << 20;

  void Add(long number, std::initializer_list<std::uint64_t> arguments, std::uint64_t answer = 0);
  /// Argument `which` (from 0) is the address of `data`.
  void AddWithData(long number, std::initializer_list<std::uint64_t> arguments, unsigned which,
                   std::string_view data, std::uint64_t answer = 0);
  /// The eight bytes at `offset` of the last call's data are the address of `more`.
  void PointTo(std::size_t offset, std::string_view more);

  /// The beginning of a checkpoint, up to the pages of memory. Fills in the rest of the header.
  Result<std::string> Finish(checkpoint::Header header, std::string_view extended) &&;

 private:
  /// Where an address of data belongs.
  struct Reference {
    bool in_data = false;  ///< else in an argument
    std::size_t at = 0;    ///< the call's number, or the offset in the data
    unsigned which = 0;    ///< the argument's number
    std::size_t data = 0;  ///< offset of what it points to
  };
  std::size_t Place(std::string_view data);

  std::uint64_t place_;
  std::vector<checkpoint::Call> calls_ = {};
  std::vector<Reference> references_ = {};
  std::string data_ = {};
};

}  // namespace igloo::copy
