#include "network/json.h"

#include <boost/json/array.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parser.hpp>

namespace igloo::network {

namespace json = boost::json;

Result<json::value> ObjectReader::Parse(std::string_view text, std::size_t longest) {
  if (text.size() > longest) return Fail(Errc::kProtocol, "a message is too long");
  json::parse_options options;
  options.max_depth = 4;
  json::parser parser({}, options);
  boost::system::error_code error;
  parser.write(json::string_view(text.data(), text.size()), error);
  if (error) return Fail(Errc::kProtocol, "a message is not JSON: " + error.message());
  return parser.release();
}

ObjectReader::ObjectReader(const json::value& value) : object_(value.if_object()) {
  if (object_ == nullptr) wrong_ = "a message is no object";
}

const json::value* ObjectReader::Find(std::string_view key) {
  if (!wrong_.empty()) return nullptr;
  const json::value* value = object_->if_contains(json::string_view(key.data(), key.size()));
  Expect(value != nullptr, key);
  ++asked_;
  return value;
}

void ObjectReader::Expect(bool condition, std::string_view what) {
  if (!condition && wrong_.empty()) {
    wrong_ = "'" + std::string(what) + "' of a message is missing or wrong";
  }
}

std::string ObjectReader::Text(std::string_view key, std::size_t longest) {
  const json::value* value = Find(key);
  if (value == nullptr) return {};
  const json::string* text = value->if_string();
  Expect(text != nullptr && text->size() <= longest, key);
  return wrong_.empty() ? std::string(text->data(), text->size()) : std::string();
}

std::uint64_t ObjectReader::Number(std::string_view key, std::uint64_t most) {
  const json::value* value = Find(key);
  if (value == nullptr) return 0;
  boost::system::error_code error;
  const auto number = value->is_number() && !value->is_double()
                          ? value->to_number<std::uint64_t>(error)
                          : std::uint64_t{0};
  Expect(value->is_number() && !value->is_double() && !error && number <= most, key);
  return wrong_.empty() ? number : 0;
}

const json::array* ObjectReader::Array(std::string_view key, std::size_t most) {
  const json::value* value = Find(key);
  if (value == nullptr) return nullptr;
  const json::array* array = value->if_array();
  Expect(array != nullptr && array->size() <= most, key);
  return wrong_.empty() ? array : nullptr;
}

std::vector<std::string> ObjectReader::Texts(std::string_view key, std::size_t most,
                                             std::size_t longest) {
  std::vector<std::string> texts;
  const json::array* array = Array(key, most);
  if (array == nullptr) return texts;
  texts.reserve(array->size());
  for (const json::value& each : *array) {
    const json::string* text = each.if_string();
    Expect(text != nullptr && text->size() <= longest, key);
    if (!wrong_.empty()) return {};
    texts.emplace_back(text->data(), text->size());
  }
  return texts;
}

Result<void> ObjectReader::Finish() const {
  if (!wrong_.empty()) return Fail(Errc::kProtocol, wrong_);
  if (asked_ != object_->size()) return Fail(Errc::kProtocol, "a message has a key too many");
  return {};
}

}  // namespace igloo::network
