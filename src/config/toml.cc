#include "config/toml.h"

#include <fmt/format.h>

// The library is compiled into this one file: its headers cost seconds and belong to nobody else.
#define TOML_HEADER_ONLY 0
#define TOML_IMPLEMENTATION
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// The schema is at most four deep.
#define TOML_MAX_NESTED_VALUES 16
// Otherwise floats go through streams and locales, which start-up would pay for.
#define TOML_FLOAT_CHARCONV 1
#include <toml++/toml.h>

#include "base/text.h"
#include "config/toml_depth.h"

namespace igloo::config {
namespace {

Position At(const toml::source_position& where) { return {where.line, where.column}; }

Table ToTable(const toml::table& table);

Value ToValue(const toml::node& node) {
  Value value;
  value.where = At(node.source().begin);
  if (const auto* flag = node.as_boolean()) {
    value.data = flag->get();
  } else if (const auto* integer = node.as_integer()) {
    value.data = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    value.data = number->get();
  } else if (const auto* text = node.as_string()) {
    value.data = text->get();
  } else if (const auto* array = node.as_array()) {
    Array items;
    for (const toml::node& item : *array) items.items.push_back(ToValue(item));
    value.data = std::move(items);
  } else if (const auto* table = node.as_table()) {
    value.data = ToTable(*table);
  } else {
    value.data = DateOrTime{};
  }
  return value;
}

Table ToTable(const toml::table& table) {
  Table out;
  for (const auto& [key, node] : table) {
    out.members.push_back({std::string(key.str()), At(key.source().begin), ToValue(node)});
  }
  return out;
}

/// The library says "Error while parsing X: ..."; ours begin small, like every error.
std::string Reword(std::string_view description) {
  std::string text = Printable(description);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] + 32);
  return text;
}

std::string HintFor(std::string_view description) {
  if (description.find("end-of-file") != std::string_view::npos) {
    return "the file ends in the middle of something; was it written completely?";
  }
  if (description.find("cannot redefine") != std::string_view::npos) {
    return "it stands above already: keep one, or give this one another name";
  }
  return "see https://toml.io for how TOML is written";
}

}  // namespace

std::expected<Table, Problem> ParseToml(std::string_view text) {
  if (const auto deep = FindDeepKey(text)) {
    return std::unexpected(Problem{*deep, fmt::format("a key of more than {} parts", kMaxKeyParts),
                                   "no key of igloo's has more than four"});
  }
  if (const auto stray = FindStrayCharacter(text)) {
    return std::unexpected(Problem{*stray, "a character that is not ASCII, outside of a text",
                                   "put the key or the value in quotes"});
  }
  const toml::parse_result parsed = toml::parse(text);
  if (parsed.failed()) {
    const toml::parse_error& error = parsed.error();
    return std::unexpected(Problem{At(error.source().begin), Reword(error.description()),
                                   HintFor(error.description())});
  }
  return ToTable(parsed.table());
}

}  // namespace igloo::config
