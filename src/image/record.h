#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace igloo::image {

/// What is kept of an image beside its files. Read from igloo-image, which has read it from
/// somebody else: everything is checked again.
struct Record {
  std::string digest = {};  ///< of its manifest: 64 hexadecimal digits
  std::map<std::string, std::string> variables = {};
  std::vector<std::string> entrypoint = {}, command = {};
  std::string working_directory = {}, user = {};
  std::uint64_t entries = 0, bytes = 0;
  std::vector<std::string> notes = {};
  bool operator==(const Record&) const = default;
};

/// Fails with igloo-image's own error when that is what it says. Pure.
Result<Record> ParseRecord(std::string_view text);

/// Under which names images are known. Pure.
struct Names {
  struct Entry {
    std::string digest = {};
    std::string stamp = {};  ///< of the file that it was unpacked from; empty: from a registry
    bool operator==(const Entry&) const = default;
  };
  std::map<std::string, Entry> all = {};  ///< by ToText of a reference
  bool operator==(const Names&) const = default;
};
Result<Names> ParseNames(std::string_view text);
std::string ToJson(const Names& names);

bool IsDigest(std::string_view text);

}  // namespace igloo::image
