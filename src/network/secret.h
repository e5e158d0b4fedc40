#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "network/http_head.h"

namespace igloo::network {

/// Begins every placeholder, so that one is recognised wherever it turns up.
inline constexpr std::string_view kPlaceholderPrefix = "igloo-placeholder-";

/// A value that a sandbox may use and never sees.
struct Secret {
  std::string name = {};                  ///< for messages and records
  std::string value = {};                 ///< visible ASCII and spaces: what may stand in a header
  std::string placeholder = {};           ///< what the sandbox holds instead
  Name domain;                            ///< the one place that gets the value
  std::vector<std::string> headers = {};  ///< the only ones that may hold it; never empty
  bool operator==(const Secret&) const = default;
};

/// A placeholder for a secret of this name that nobody can guess.
Result<std::string> NewPlaceholder(std::string_view name);

inline constexpr std::size_t kMostSecretHeaders = 16;
/// The names of headers in "Authorization" or "Authorization, X-Api-Key". Fails when there is none,
/// and when one is no name of a header; the error does not repeat it.
Result<std::vector<std::string>> ParseHeaderNames(std::string_view text);

/// Refuses what could not stand in a header, what would end one, what names no header, and values
/// so short that they stand in other texts by chance: answers are searched for them (scan.h).
Result<void> CheckSecret(const Secret& secret);

/// Whether there was anything to replace.
bool ReplaceAll(std::string& text, std::string_view what, std::string_view with);

/// Puts values in the place of placeholders: in the values of the secret's own headers, for the
/// secret's own domain, and only where `head` goes out encrypted. In "Authorization: Basic", the
/// encoded text is looked at. Everywhere else a placeholder stays: it is worth nothing to whoever
/// gets it. Returns the names of the secrets that were used.
std::vector<std::string> UseSecrets(const std::vector<Secret>& secrets, RequestHead& head);

}  // namespace igloo::network
