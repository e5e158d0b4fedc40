#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace igloo::agent {

/// Both sides gave a key another value than it had. The host's stays.
struct JsonConflict {
  std::string pointer = {};              ///< RFC 6901
  std::optional<std::string> host = {};  ///< JSON texts; nullopt: that side removed the key
  std::optional<std::string> box = {};
  bool operator==(const JsonConflict&) const = default;
};

/// Objects are merged key by key on every level.
inline constexpr int kAllLevels = 1000;

/// Three texts of one file. A file that is not there is nullopt and counts as an object without
/// keys.
struct JsonSides {
  std::string file = {};                 ///< for messages
  std::optional<std::string> base = {};  ///< what the box was given
  std::optional<std::string> host = {};  ///< what is there now
  std::optional<std::string> box = {};   ///< what the box made of it
  int levels = kAllLevels;  ///< of objects that are merged; below them a value is a unit
};

struct MergedJson {
  std::string text = {};
  std::vector<JsonConflict> conflicts = {};
};

/// Merges by key: what one side alone changed is taken from it. Arrays are values. The result is
/// the host's text with as few bytes changed as possible; it is the host's own text if the box
/// changed nothing. Pure. Fails if a text is not JSON (JsonDocument::Parse) or not an object.
Result<MergedJson> MergeJson(const JsonSides& sides);

}  // namespace igloo::agent
