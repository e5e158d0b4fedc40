#include "environment/record_json.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace igloo::environment {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestRecord = 4U << 20, kLongestText = 64U << 10, kMostTexts = 1024;

bool IsText(const json::value& value) {
  return value.is_string() && value.get_string().size() <= kLongestText;
}

}  // namespace

std::optional<json::object> ObjectOf(std::string_view text) {
  if (text.size() > kLongestRecord) return std::nullopt;
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

std::string TextAt(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && IsText(*value) ? std::string(value->get_string()) : "";
}

std::vector<std::string> TextsAt(const json::object& object, std::string_view key) {
  std::vector<std::string> texts;
  const json::value* value = object.if_contains(key);
  if (value == nullptr || !value->is_array()) return texts;
  for (const json::value& each : value->get_array()) {
    if (IsText(each) && texts.size() < kMostTexts) texts.emplace_back(each.get_string());
  }
  return texts;
}

std::uint64_t NumberAt(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  boost::system::error_code error;
  const auto number = value != nullptr ? value->to_number<std::uint64_t>(error) : 0;
  return error ? 0 : number;
}

bool FlagAt(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

const json::object* ObjectAt(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr ? value->if_object() : nullptr;
}

}  // namespace igloo::environment
