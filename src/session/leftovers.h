#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "environment/run_policy.h"

namespace igloo::session {

/// A regular file that a run left behind.
struct LeftFile {
  std::string path = {};  ///< relative, with '/'; any bytes that a name can have
  std::uint64_t size = 0;
  bool read = false;  ///< `bytes` holds all of it; otherwise it was too large, or not readable
  std::string bytes = {};
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
  bool complete = true;              ///< there was no more than the limits allow
};

/// New and changed files below `directory`, which a run handed out. What it was given and did not
/// change is left out, and so are hidden names and caches of interpreters, and what is as `stamps`
/// have it, which is brought up to date.
/// SECURITY: hostile code wrote all of it: nothing but regular files is opened, no link is
/// followed, everything is counted.
Leftovers ReadLeftovers(int directory, const std::vector<environment::GivenFile>& given,
                        const LeftLimits& limits = {}, Stamps* stamps = nullptr);

}  // namespace igloo::session
