#pragma once

#include <string>
#include <string_view>

namespace igloo::service::changes {

// The formats of git that a patch needs.

/// What git calls a file of this content: SHA-1 as 40 hexadecimal digits. It tells versions apart
/// and protects nothing.
std::string BlobName(std::string_view content);

/// "literal SIZE" and the content as `git apply` reads it, with an empty line at the end.
std::string BinaryLiteral(std::string_view content);

/// A path in a patch: as it is, or in quotation marks with escapes.
std::string PatchPath(std::string_view prefix, std::string_view path);

}  // namespace igloo::service::changes
