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
  std::string name = {};         ///< for messages and records
  std::string value = {};        ///< visible ASCII and spaces: what may stand in a header
  std::string placeholder = {};  ///< what the sandbox holds instead
  Name domain;                   ///< the one place that gets the value
  std::string header = {};       ///< the one header that may hold it; empty: any
  bool operator==(const Secret&) const = default;
};

/// A placeholder for a secret of this name that nobody can guess.
Result<std::string> NewPlaceholder(std::string_view name);

/// Refuses what could not stand in a header, or what would end one.
Result<void> CheckSecret(const Secret& secret);

/// Puts values in the place of placeholders, in the values of headers only, for the secret's own
/// domain only, and only where `head` goes out encrypted. In "Authorization: Basic", the encoded
/// text is looked at. Everywhere else a placeholder stays: it is worth nothing to whoever gets it.
/// Returns the names of the secrets that were used.
std::vector<std::string> UseSecrets(const std::vector<Secret>& secrets, RequestHead& head);

}  // namespace igloo::network
