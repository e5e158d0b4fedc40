#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace igloo {

std::string ToBase64(std::string_view bytes);
/// Empty for what is not padded base64 in its one canonical form.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace igloo
