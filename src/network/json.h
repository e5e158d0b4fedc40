#pragma once

// Reading one JSON object strictly: every key must be asked for, with its type.

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace igloo::network {

/// After the first key that is missing or wrong, everything is empty and Finish() fails.
class ObjectReader {
 public:
  static Result<boost::json::value> Parse(std::string_view text, std::size_t longest);

  explicit ObjectReader(const boost::json::value& value);

  std::string Text(std::string_view key, std::size_t longest);
  std::uint64_t Number(std::string_view key, std::uint64_t most);
  std::vector<std::string> Texts(std::string_view key, std::size_t most, std::size_t longest);
  const boost::json::array* Array(std::string_view key, std::size_t most);
  void Expect(bool condition, std::string_view what);

  /// Fails when something was wrong or when a key was not asked for.
  Result<void> Finish() const;

 private:
  const boost::json::value* Find(std::string_view key);

  const boost::json::object* object_ = nullptr;
  std::size_t asked_ = 0;
  std::string wrong_ = {};
};

}  // namespace igloo::network
