#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace igloo::service::changes {

/// What two people made of one text, together. Nothing: they changed the same lines, or lines that
/// touch, in different ways.
std::optional<std::string> Merge(std::string_view base, std::string_view ours,
                                 std::string_view theirs);

}  // namespace igloo::service::changes
