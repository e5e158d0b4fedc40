#pragma once

#include "agent/state/guarded.h"

namespace igloo::agent {

/// A key of a file that is a list of keys, with its value as it is written.
struct FlatKey {
  std::vector<std::string> keys = {};  ///< from the top: {"core", "fsmonitor"}
  std::string value = {};
  bool operator==(const FlatKey&) const = default;
};

/// The keys of TOML or of git's configuration, in order. A key of git's may stand there often.
/// Names of git's sections and keys come in small letters, because git takes both.
Result<std::vector<FlatKey>> ReadFlatKeys(const FileRule& rule, std::string_view text);

/// Whether the value of a harmless key of git's is harmless, too. A branch's remote may be an
/// address instead of a name.
bool IsPlainValue(const FileRule& rule, const FlatKey& key);

/// "core.fsmonitor"
std::string NameOf(const FlatKey& key);

}  // namespace igloo::agent
