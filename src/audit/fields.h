#pragma once

// What the lines of all logs have in common: text made fit to be shown, times, and fields that are
// read one by one.

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "audit/record.h"

namespace igloo::audit {

/// At most `most` bytes of it, not ending in the middle of a character.
std::string_view Cut(std::string_view text, std::size_t most);

/// Text of somebody else's, for one line on a terminal.
std::string Shown(std::string_view text, std::size_t most);

/// "2026-11-15T11:13:50.123Z", and nothing else.
std::optional<Time> ParseIso8601(std::string_view text);

/// The object that a line is.
Result<boost::json::value> ParseLine(std::string_view line);

/// Takes fields out of a line. The first one of a wrong type is what is wrong with it.
class Fields {
 public:
  explicit Fields(const boost::json::object& object) : object_(object) {}

  void Text(std::string_view name, std::string& into) {
    const boost::json::value* value = Find(name);
    if (value == nullptr) return;
    if (!value->is_string()) return Wrong(name, "text");
    into = std::string(value->get_string());
  }
  void Texts(std::string_view name, std::vector<std::string>& into) {
    const boost::json::value* value = Find(name);
    if (value == nullptr) return;
    if (!value->is_array()) return Wrong(name, "a list");
    for (const boost::json::value& each : value->get_array()) {
      if (!each.is_string()) return Wrong(name, "a list of texts");
      into.emplace_back(each.get_string());
    }
  }
  template <class Type>
  void Number(std::string_view name, Type& into) {
    const boost::json::value* value = Find(name);
    if (value == nullptr) return;
    boost::system::error_code error;
    const auto number = value->to_number<Type>(error);
    if (error) return Wrong(name, "a whole number");
    into = number;
  }
  template <class Type>
  void Optional(std::string_view name, std::optional<Type>& into) {
    if (Find(name) == nullptr) return;
    Type value{};
    if constexpr (std::is_same_v<Type, std::string>) {
      Text(name, value);
    } else {
      Number(name, value);
    }
    into = std::move(value);
  }
  /// When it was: no record is without it.
  Time When() {
    std::string text;
    Text("time", text);
    const auto time = ParseIso8601(text);
    if (!time) Wrong("time", "a time such as 2026-01-31T12:00:00.000Z");
    return time.value_or(Time());
  }
  void Wrong(std::string_view name, std::string_view right) {
    if (wrong_.empty()) wrong_ = fmt::format("'{}' is not {}", name, right);
  }
  /// Fails with what is wrong.
  Result<void> Finish() const {
    if (wrong_.empty()) return {};
    return Fail(Errc::kInvalidArgument, wrong_);
  }

 private:
  /// null is as good as nothing.
  const boost::json::value* Find(std::string_view name) const {
    const boost::json::value* value = object_.if_contains(name);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  const boost::json::object& object_;
  std::string wrong_ = {};
};

}  // namespace igloo::audit
