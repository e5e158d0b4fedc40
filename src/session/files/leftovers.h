#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "environment/run_policy.h"

namespace igloo::session {

/// A regular file that a run left behind.
struct LeftFile {
  std::string path = {};  ///< relative, with '/'; any bytes that a name can have
  std::uint64_t size = 0;
  enum class State { kRead, kTooLarge, kUnreadable };
  State state = State::kUnreadable;
  std::string bytes = {};  ///< all of it, when it was read
  bool text = false;       ///< and it IsPlainText
};

/// How much of what a run left is looked at.
struct LeftLimits {
  std::size_t files = 100;
  std::size_t entries = 10'000;  ///< names looked at
  std::size_t depth = 16;
  std::uint64_t file_bytes = 16U << 20;
  std::uint64_t total_bytes = 32U << 20;
};

/// What a file was when it was last looked at.
struct Stamp {
  std::uint64_t inode = 0, size = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const Stamp&) const = default;
};
using Stamps = std::map<std::string, Stamp>;

struct Leftovers {
  std::vector<LeftFile> files = {};  ///< by path
  bool complete = true;              ///< everything could be looked at, within the limits
};

/// New and changed files below `directory`, which a run handed out. What it was given and did not
/// change is left out, and so are hidden names and caches of interpreters, and what is as `stamps`
/// have it, which is brought up to date.
/// SECURITY: hostile code wrote all of it: nothing but regular files is opened, no link is
/// followed, everything is counted.
Leftovers ReadLeftovers(int directory, const std::vector<environment::GivenFile>& given,
                        const LeftLimits& limits = {}, Stamps* stamps = nullptr);

/// The same in slices, for a thread that has other things to do: all of it together takes long.
class LeftoversReader {
 public:
  /// All of these outlive it.
  LeftoversReader(int directory, const std::vector<environment::GivenFile>& given,
                  const LeftLimits& limits = {}, Stamps* stamps = nullptr);
  ~LeftoversReader();

  /// Reads one file, or looks at some names; false when there is nothing left to do.
  bool Step();
  /// Once, when there is nothing left to do.
  Leftovers Take();

 private:
  class Walk;
  std::unique_ptr<Walk> walk_;
};

/// UTF-8 without control characters but those that lines are made of: nothing in it grows sixfold
/// in JSON.
bool IsPlainText(std::string_view bytes);

}  // namespace igloo::session
