#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace igloo::service {

enum class Slashes { kKept, kEscaped };

/// Everything but letters, digits and -._~ as %xx.
std::string EscapeForUri(std::string_view text, Slashes slashes);
/// Nothing when a % is not followed by two digits.
std::optional<std::string> UnescapeFromUri(std::string_view text);

/// A file in a session's working directory.
struct SessionFile {
  std::string session = {}, path = {};
  bool operator==(const SessionFile&) const = default;
};

inline constexpr std::string_view kSessionUris = "igloo://session/";

std::string UriOf(const SessionFile& file);
/// Nothing when it is no URI of a file that could be in a session.
std::optional<SessionFile> ReadSessionUri(std::string_view uri);

}  // namespace igloo::service
