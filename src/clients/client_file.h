#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "base/error.h"

namespace igloo::clients {

inline constexpr std::size_t kMaxClientFile = 64U << 20;

/// A client's file as it was read.
struct ClientFile {
  std::string path = {};
  bool exists = false;
  std::string text = {};
  struct stat info = {};  ///< when it exists
};

/// Reads the file of a client; that there is none is no failure. Everything but a regular file is
/// refused, links too: igloo replaces files, and a link would be gone.
Result<ClientFile> ReadClientFile(const std::string& path);

/// Refuses links among the directories between a project and the file.
Result<void> RefuseLinksBelow(const std::string& project, const std::string& file);

/// Copies the file beside itself, under a name that nothing has, and returns it.
Result<std::string> BackUp(const ClientFile& file);

/// Replaces the file as a whole, with the mode and owner it had; a new one gets `mode`. Fails when
/// somebody else has written it since it was read.
Result<void> WriteClientFile(const ClientFile& file, std::string_view text, mode_t mode);
Result<void> DeleteClientFile(const ClientFile& file);

/// Makes what is missing of a directory and says how many were made.
Result<int> MakeDirectories(const std::string& path, mode_t mode);

/// Removes `count` directories upwards from `path`, as far as they are empty.
void RemoveDirectories(std::string path, int count);

}  // namespace igloo::clients
