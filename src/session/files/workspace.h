#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"
#include "environment/run_policy.h"
#include "session/files/leftovers.h"

namespace igloo::session {

// Single files below a directory that a sandbox handed out.
// SECURITY: hostile code lives there and changes everything at any moment: no link is followed, no
// other mount is entered, nothing but regular files is read or written, and nothing blocks.

/// Not valid when there is nothing of that name, or something of another kind on the way.
UniqueFd OpenBelow(int directory, const char* name, std::uint64_t flags, std::uint32_t mode = 0);

/// What is in a regular file. kNotFound when `path` leads to none, kExhausted when it is larger
/// than `most`.
Result<std::string> ReadBelow(int directory, const std::string& path, std::uint64_t most);

/// The size of a regular file, with the same failures.
Result<std::uint64_t> SizeBelow(int directory, const std::string& path);

/// Puts a file there, whole or not at all, in the place of what has its name; directories on the
/// way are made. It belongs to the owner of `directory`, so the code inside may change it.
Result<Stamp> WriteBelow(int directory, const environment::GivenFile& file);

Stamp StampOf(const struct stat& info);

}  // namespace igloo::session
