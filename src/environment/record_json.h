#pragma once

// Reading what igloo itself has written down as JSON: whatever is not as it writes it is as good as
// not there, and nothing is larger than it could be.

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace igloo::environment {

/// Nothing when the text is no JSON object, or has more than 4 MB.
std::optional<boost::json::object> ObjectOf(std::string_view text);

/// At most 64 KB; empty when it is no such text.
std::string TextAt(const boost::json::object& object, std::string_view key);
/// At most 1024 of them.
std::vector<std::string> TextsAt(const boost::json::object& object, std::string_view key);
/// 0 when it is no whole number.
std::uint64_t NumberAt(const boost::json::object& object, std::string_view key);
bool FlagAt(const boost::json::object& object, std::string_view key);
/// Null when it is none.
const boost::json::object* ObjectAt(const boost::json::object& object, std::string_view key);

}  // namespace igloo::environment
