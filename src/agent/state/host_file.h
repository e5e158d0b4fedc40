#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/replace_file.h"

namespace igloo::agent {

/// A file of the user's as it was read.
struct HostFile {
  std::string path = {};                 ///< behind all links
  std::optional<std::string> text = {};  ///< nullopt: there is no such file
  FileAttributes attributes = {};
};

/// Reads a file of the user's. Links are followed, because users keep such files elsewhere and link
/// to them. Refused: what is no regular file, what another user owns, more than `limit` bytes, and
/// a link to nothing.
Result<HostFile> ReadHostFile(const std::string& path, std::size_t limit);

/// The name beside a file under which its new content is prepared. One process at a time may write
/// a file, which the caller's lock sees to.
std::string PreparedName(const std::string& path);

/// Puts `text` in the place of the file that was read, all at once and with the same mode and
/// owner; a new file is readable by its owner alone. Its directory is made if it is missing.
/// After a crash the file is the old or the new one, and what was prepared is removed by the next
/// WriteHostFile or RemovePrepared.
/// Fails with kFailedPrecondition if somebody else changed the file since it was read.
Result<void> WriteHostFile(const HostFile& file, std::string_view text);

/// Removes what a WriteHostFile left that was killed.
void RemovePrepared(const HostFile& file);

}  // namespace igloo::agent
