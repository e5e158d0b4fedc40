#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "service/changes/change.h"
#include "service/changes/line_diff.h"

namespace igloo::service::changes {

/// Both sides of one change, in memory.
struct Sides {
  std::string before = {}, after = {};
  bool text = false;  ///< both are; otherwise there are no lines
};
/// Fails if nobody knows the base's content, or a file is larger than kLargestText.
Result<Sides> SidesOf(const Contents& contents, const Change& change);

/// One change as `git apply` takes it: names, modes, renames, hunks, binaries. Empty for
/// directories, which git does not know.
Result<std::string> PatchOf(const Contents& contents, const Change& change);

/// Lines that came and went; of binaries, bytes.
struct Stat {
  bool binary = false;
  std::size_t added = 0, removed = 0;
};
Result<Stat> StatOf(const Contents& contents, const Change& change);

/// A changed text file's hunks, for somebody who chooses among them. None: it is not one.
struct HunkList {
  Sides sides = {};
  std::vector<Hunk> hunks = {};
  std::vector<std::string> texts = {};  ///< "@@ ..." and lines
};
Result<HunkList> HunksOf(const Contents& contents, const Change& change);

}  // namespace igloo::service::changes
