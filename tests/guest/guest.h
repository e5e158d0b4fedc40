#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"

namespace igloo::testing {

/// Who runs a script in the guest.
enum class Who {
  kRoot,
  kUser,      ///< with a cgroup delegated to it, as a session of systemd has one
  kOutsider,  ///< the same user in a cgroup of root's
};
std::string_view Name(Who who);

/// How one script in the guest ended.
struct Report {
  int status = -1;  ///< exit code, or 128 + signal; 124 when the guest lost its patience
  std::string out = {};
  std::string err = {};
  std::string left = {};  ///< a line for each process and each cgroup that was not there before
  bool operator==(const Report&) const = default;
};
using Reports = std::map<std::string, Report>;

/// What a guest did until it ended, by itself or not.
struct GuestRun {
  Reports reports = {};
  std::string trouble = {};  ///< why reports are missing; empty when all are there
};

/// Boots a Linux with cgroup v2 in an emulator, with the igloo of this build inside, and runs
/// `scripts` there, one after the other. Their names are "NAME.WHO"; reports have the same names.
GuestRun RunInGuest(const std::map<std::string, std::string>& scripts);

/// Reads what tests/guest/init writes; what is missing at the end is trouble, not lost.
GuestRun ReadReports(std::string_view text);

}  // namespace igloo::testing
