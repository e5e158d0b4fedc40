#include "config/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parser.hpp>
#include <boost/json/value.hpp>
#include <expected>

#include "base/text.h"
#include "config/json_place.h"

namespace igloo::config {
namespace {

namespace json = boost::json;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool SameKey(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, Lower, Lower);
}

/// The key as the file spells it, or as it was asked for when the file does not have it.
std::string_view Spelling(const json::object& object, std::string_view key) {
  if (object.contains(key)) return key;
  for (const auto& member : object) {
    if (SameKey(member.key(), key)) return member.key();
  }
  return key;
}

}  // namespace

std::expected<json::object, Problem> ParseJsonObject(std::string_view text) {
  json::parser parser;
  boost::system::error_code error;
  const std::size_t parsed = parser.write_some(text, error);
  if (!error && parsed < text.size()) {
    const std::size_t rest = text.find_first_not_of(" \t\r\n", parsed);
    if (rest != std::string_view::npos) {
      return std::unexpected(Problem{PositionAt(text, rest), "something stands behind the object",
                                     "the file is one JSON object"});
    }
  }
  if (error) {
    return std::unexpected(Problem{PositionAt(text, parsed), "this is not JSON: " + error.message(),
                                   "JSON has neither comments nor a comma behind the last member"});
  }
  json::value value = parser.release();
  if (!value.is_object()) {
    return std::unexpected(Problem{{1, 1}, "this is not a JSON object", "begin it with '{'"});
  }
  return std::move(value.get_object());
}

std::string JsonReader::FullName(std::string_view key) const {
  std::string name;
  for (const std::string& step : path_) name += step + ".";
  return name + std::string(key);
}

Problem JsonReader::At(std::string_view key, std::string what, std::string hint) const {
  std::vector<std::string> path = path_;
  if (!key.empty()) path.emplace_back(Spelling(object_, key));
  return {FindInJson(text_, path), std::move(what), std::move(hint)};
}

void JsonReader::Complain(std::string_view key, std::string what, std::string hint) {
  problems_.push_back(At(key, std::move(what), std::move(hint)));
}

void JsonReader::Wrong(std::string_view key, std::string_view expected) {
  Complain(key, fmt::format("'{}' is not {}", FullName(key), expected), "");
}

const json::value* JsonReader::Find(std::string_view key) {
  asked_.emplace_back(key);
  const json::value* value = object_.if_contains(Spelling(object_, key));
  return value == nullptr || value->is_null() ? nullptr : value;
}

bool JsonReader::Take(std::string_view key, std::string& value) {
  const json::value* found = Find(key);
  if (found == nullptr) return false;
  if (!found->is_string() || found->get_string().find('\0') != json::string::npos) {
    Wrong(key, "a text");
  } else {
    value = std::string(found->get_string());
  }
  return true;
}

bool JsonReader::Take(std::string_view key, bool& value) {
  std::optional<bool> taken;
  const bool there = Take(key, taken);
  value = taken.value_or(value);
  return there;
}

bool JsonReader::Take(std::string_view key, std::optional<bool>& value) {
  const json::value* found = Find(key);
  if (found == nullptr) return false;
  if (found->is_bool()) {
    value = found->get_bool();
  } else {
    Wrong(key, "true or false");
  }
  return true;
}

bool JsonReader::Take(std::string_view key, std::vector<std::string>& value) {
  const json::value* found = Find(key);
  if (found == nullptr) return false;
  const json::array* list = found->if_array();
  const auto is_text = [](const json::value& item) {
    return item.is_string() && item.get_string().find('\0') == json::string::npos;
  };
  if (list == nullptr || !std::ranges::all_of(*list, is_text)) {
    Wrong(key, "a list of texts");
    return true;
  }
  value.clear();
  for (const json::value& item : *list) value.emplace_back(item.get_string());
  return true;
}

std::optional<std::uint64_t> JsonReader::Number(std::string_view key, Range range, bool& there) {
  const json::value* found = Find(key);
  there = found != nullptr;
  if (!there) return std::nullopt;
  boost::system::error_code error;
  const auto number = found->to_number<std::uint64_t>(error);
  if (!error && number >= range.least && number <= range.most) return number;
  Wrong(key, fmt::format("a whole number from {} to {}", range.least, range.most));
  return std::nullopt;
}

bool JsonReader::Take(std::string_view key, Range range, std::uint64_t& value) {
  bool there = false;
  value = Number(key, range, there).value_or(value);
  return there;
}

bool JsonReader::Take(std::string_view key, Range range, std::optional<std::uint64_t>& value) {
  bool there = false;
  if (const auto number = Number(key, range, there)) value = number;
  return there;
}

void JsonReader::Enter(std::string_view key, const std::function<void(JsonReader&)>& read) {
  const json::value* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_object()) {
    Wrong(key, "an object");
    return;
  }
  std::vector<std::string> path = path_;
  path.emplace_back(Spelling(object_, key));
  JsonReader inner(text_, found->get_object(), problems_, std::move(path));
  read(inner);
}

void JsonReader::EnterEach(std::string_view key, const std::function<void(JsonReader&)>& read) {
  const json::value* found = Find(key);
  if (found == nullptr) return;
  const json::array* list = found->if_array();
  if (list == nullptr || !std::ranges::all_of(*list, &json::value::is_object)) {
    Wrong(key, "a list of objects");
    return;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    std::vector<std::string> path = path_;
    path.insert(path.end(), {std::string(Spelling(object_, key)), std::to_string(i)});
    JsonReader inner(text_, (*list)[i].get_object(), problems_, std::move(path));
    read(inner);
  }
}

void JsonReader::NoteUnknown(std::vector<Problem>& notes) const {
  const std::vector<std::string_view> names(asked_.begin(), asked_.end());
  for (const auto& member : object_) {
    const std::string_view key = member.key();
    const auto known = [&](std::string_view name) { return SameKey(name, key); };
    if (std::ranges::any_of(names, known)) continue;
    const std::string nearest = Nearest(key, names.data(), names.size());
    notes.push_back(At(key, fmt::format("'{}' is not a key, ignoring it", Printable(FullName(key))),
                       nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest)));
  }
}

}  // namespace igloo::config
