#include "config/check_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/text.h"
#include "environment/names.h"
#include "network/wanted.h"
#include "sandbox/path.h"

namespace igloo::config {
namespace {

using Checking = std::expected<Checked, Problem>;

std::string_view TypeName(const Value& value) {
  constexpr std::string_view kNames[] = {"true or false", "a whole number", "a number",      "text",
                                         "a list",        "a table",        "a date or time"};
  return kNames[value.data.index()];
}

std::string_view ExampleOf(const Key& key) {
  return key.example.empty() ? key.fallback : key.example;
}

std::string RightFor(const Key& key) {
  return fmt::format("write {}, for example {} = {}", Expected(key), LastPart(key.path),
                     ExampleOf(key));
}

std::unexpected<Problem> Wrong(const Key& key, const Value& value, std::string what) {
  return std::unexpected(Problem{value.where, std::move(what), RightFor(key)});
}

std::unexpected<Problem> WrongType(const Key& key, const Value& value) {
  return Wrong(key, value, fmt::format("'{}' cannot be {}", LastPart(key.path), TypeName(value)));
}

/// Text that can become an argument, a path or a variable.
bool IsWhole(std::string_view text) { return text.find('\0') == std::string_view::npos; }

bool IsPorts(Kind kind) { return kind == Kind::kPorts || kind == Kind::kPublished; }
bool IsPort(const std::int64_t* number) {
  return number != nullptr && *number >= 1 && *number <= 65'535;
}

Checking CheckNumber(const Key& key, const Value& value) {
  const Shape& shape = key.shape;
  const auto* whole = std::get_if<std::int64_t>(&value.data);
  const auto* real = std::get_if<double>(&value.data);
  const bool cpus = shape.kind == Kind::kCpus;
  const bool parts = cpus || shape.kind == Kind::kSeconds;
  if (whole == nullptr && (real == nullptr || !parts)) return WrongType(key, value);
  if (whole != nullptr) {
    const auto least = static_cast<std::int64_t>(shape.least);
    if (*whole < least || *whole > static_cast<std::int64_t>(shape.most)) {
      return Wrong(key, value, fmt::format("'{}' cannot be {}", LastPart(key.path), *whole));
    }
    const std::uint64_t unit = parts ? 1000 : shape.kind == Kind::kMegabytes ? 1ULL << 20 : 1;
    return Checked{.number = static_cast<std::uint64_t>(*whole) * unit};
  }
  // What is not a number is not inside, either.
  // The kernel shares processors out in hundredths of one at the finest.
  const bool enough = cpus ? *real >= 0.01 : *real > 0;
  const bool inside = enough && *real <= static_cast<double>(shape.most);
  if (!inside) {
    return Wrong(key, value, fmt::format("'{}' cannot be {}", LastPart(key.path), *real));
  }
  return Checked{.number = std::max<std::uint64_t>(
                     1, static_cast<std::uint64_t>(std::llround(*real * 1000.0)))};
}

Checking CheckChoice(const Key& key, const Value& value, const std::string& text,
                     const CheckContext& context) {
  const wall::Wall* wall = key.shape.names_wall ? wall::Find(text, context.walls) : nullptr;
  if (wall != nullptr) return Checked{.text = text, .wall = wall};
  const auto words = Words(key.shape.choices);
  const bool known = !key.shape.names_wall && std::ranges::find(words, text) != words.end();
  if (known) return Checked{.text = text};
  const std::string nearest = Nearest(text, words.data(), words.size());
  Problem problem{value.where,
                  fmt::format("'{}' cannot be \"{}\"", LastPart(key.path), Printable(text)),
                  nearest.empty() ? RightFor(key) : fmt::format("did you mean \"{}\"?", nearest)};
  return std::unexpected(std::move(problem));
}

Checking CheckPath(const Key& key, const Value& value, const std::string& text,
                   const CheckContext& context) {
  std::filesystem::path path = text;
  if (text == "~" || text.starts_with("~/")) {
    if (context.home.empty()) {
      return std::unexpected(Problem{
          value.where, fmt::format("'{}' begins with '~', and HOME is not set", LastPart(key.path)),
          "write the path in full"});
    }
    path = std::filesystem::path(context.home) / text.substr(std::min<std::size_t>(2, text.size()));
  } else if (text.starts_with('~')) {
    return std::unexpected(Problem{
        value.where, fmt::format("'{}' names another user's home directory", LastPart(key.path)),
        "write the path in full"});
  }
  std::string normal =
      (std::filesystem::path(context.directory) / path).lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return Checked{.text = std::move(normal)};
}

/// "9.9.9.9", "[2620:fe::fe]:53", and several of them.
bool AreResolvers(std::string_view text) {
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view each = text.substr(0, comma);
    // An address of version 6 has colons of its own.
    const std::size_t colon = each.ends_with(']') ? std::string_view::npos : each.rfind(':');
    if (colon != std::string_view::npos && !network::ParsePort(each.substr(colon + 1))) {
      return false;
    }
    const auto host = network::ParseHost(each.substr(0, colon));
    if (!host || !std::holds_alternative<network::Address>(*host)) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

Checking CheckText(const Key& key, const Value& value, const CheckContext& context) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr) return WrongType(key, value);
  if (key.shape.kind == Kind::kChoice) return CheckChoice(key, value, *text, context);
  if (text->empty()) {
    return Wrong(key, value, fmt::format("'{}' is empty", LastPart(key.path)));
  }
  if (!IsWhole(*text)) {
    return Wrong(key, value, fmt::format("'{}' holds a zero byte", LastPart(key.path)));
  }
  if (key.shape.kind == Kind::kPath) return CheckPath(key, value, *text, context);
  const bool unusable = (key.shape.kind == Kind::kName && !environment::IsName(*text)) ||
                        (key.shape.kind == Kind::kInside && !sandbox::CheckTarget(*text)) ||
                        (key.shape.kind == Kind::kResolvers && !AreResolvers(*text));
  if (unusable) {
    return Wrong(key, value,
                 fmt::format("'{}' cannot be \"{}\"", LastPart(key.path), Printable(*text)));
  }
  return Checked{.text = *text};
}

/// What makes an item of a list wrong beyond its type.
std::optional<Error> WhyNot(Kind kind, const std::string& text) {
  const auto error = [](const auto& parsed) {
    return parsed ? std::nullopt : std::optional<Error>(parsed.error());
  };
  if (kind == Kind::kRules) return error(network::ParseRule(text));
  if (kind == Kind::kDenied) return error(network::ParseDenied(text));
  if (kind == Kind::kHosts) return error(network::Name::Parse(text));
  return std::nullopt;
}

Checking CheckList(const Key& key, const Value& value) {
  const auto* array = std::get_if<Array>(&value.data);
  if (array == nullptr) return WrongType(key, value);
  Checked checked;
  for (const Value& item : array->items) {
    const auto* text = std::get_if<std::string>(&item.data);
    const auto* number = std::get_if<std::int64_t>(&item.data);
    const auto wrong = [&] {
      return Wrong(key, item,
                   fmt::format("'{}' cannot hold {}", LastPart(key.path),
                               text != nullptr     ? "\"" + Printable(*text) + "\""
                               : number != nullptr ? std::to_string(*number)
                                                   : std::string(TypeName(item))));
    };
    const bool pair = key.shape.kind == Kind::kPublished && text != nullptr &&
                      text->find(':') != std::string::npos;
    if (pair ? !network::ParsePublished(*text) : IsPorts(key.shape.kind) && !IsPort(number)) {
      return wrong();
    }
    if (IsPorts(key.shape.kind)) {
      checked.list.push_back(pair ? *text : std::to_string(*number));
      continue;
    }
    if (text == nullptr || text->empty() || !IsWhole(*text)) return wrong();
    if (key.shape.kind == Kind::kVariables && !environment::IsVariableName(*text)) {
      // SECURITY: "NAME=value" in the list of names may well be a secret: it is not repeated.
      const std::size_t equals = text->find('=');
      if (equals == std::string::npos) return wrong();
      return std::unexpected(
          Problem{item.where, fmt::format("'{}' holds names, not values", LastPart(key.path)),
                  "write the name alone; its value is read when a run starts"});
    }
    if (auto why = WhyNot(key.shape.kind, *text)) {
      return std::unexpected(Problem{item.where, std::move(why->what),
                                     why->hint.empty() ? RightFor(key) : std::move(why->hint)});
    }
    checked.list.push_back(*text);
  }
  return checked;
}

Checking CheckTextTable(const Key& key, const Value& value) {
  const auto* table = std::get_if<Table>(&value.data);
  if (table == nullptr) return WrongType(key, value);
  Checked checked;
  for (const Member& member : table->members) {
    if (!environment::IsVariableName(member.key)) {
      return std::unexpected(
          Problem{member.where, fmt::format("'{}' is no name of a variable", Printable(member.key)),
                  "names have letters, digits and '_', and do not begin with a digit"});
    }
    const auto* text = std::get_if<std::string>(&member.value.data);
    if (text == nullptr || !IsWhole(*text)) {
      return std::unexpected(Problem{
          member.value.where,
          text == nullptr ? fmt::format("'{}' cannot be {}", member.key, TypeName(member.value))
                          : fmt::format("'{}' holds a zero byte", member.key),
          fmt::format("write text in quotes: {} = \"...\"", member.key)});
    }
    checked.table.emplace(member.key, *text);
  }
  return checked;
}

}  // namespace

Checking CheckValue(const Key& key, const Value& value, const CheckContext& context) {
  switch (key.shape.kind) {
    case Kind::kText:
    case Kind::kName:
    case Kind::kPath:
    case Kind::kInside:
    case Kind::kResolvers:
    case Kind::kChoice:
      return CheckText(key, value, context);
    case Kind::kFlag: {
      const auto* flag = std::get_if<bool>(&value.data);
      if (flag == nullptr) return WrongType(key, value);
      return Checked{.flag = *flag};
    }
    case Kind::kCount:
    case Kind::kSeconds:
    case Kind::kMegabytes:
    case Kind::kCpus:
      return CheckNumber(key, value);
    case Kind::kTexts:
    case Kind::kVariables:
    case Kind::kRules:
    case Kind::kDenied:
    case Kind::kHosts:
    case Kind::kPorts:
    case Kind::kPublished:
      return CheckList(key, value);
    case Kind::kTextTable:
      return CheckTextTable(key, value);
  }
  return WrongType(key, value);
}

bool IsFallback(const Key& key, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) {
    return key.fallback == "\"" + *text + "\"";
  }
  if (const auto* flag = std::get_if<bool>(&value.data)) {
    return key.fallback == (*flag ? "true" : "false");
  }
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) {
    return key.fallback == std::to_string(*number);
  }
  const auto* list = std::get_if<Array>(&value.data);
  return list != nullptr && list->items.empty() && key.fallback == "[]";
}

std::uint64_t FallbackNumber(const Key& key) {
  std::int64_t number = 0;
  std::from_chars(key.fallback.data(), key.fallback.data() + key.fallback.size(), number);
  const Value value{.data = number};
  const auto checked = CheckValue(key, value, {});
  return checked ? checked->number : 0;
}

}  // namespace igloo::config
