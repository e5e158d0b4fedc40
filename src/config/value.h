#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace igloo::config {

/// Where something stands in a file; both count from 1, columns in characters.
struct Position {
  std::uint32_t line = 0, column = 0;
  auto operator<=>(const Position&) const = default;
};

struct Value;
struct Member;

// No initialisers for what holds a Member: they would need its type before it is complete.
struct Array {
  std::vector<Value> items;
};
struct Table {
  std::vector<Member> members;
};
/// TOML has dates and times; no key of ours takes one.
struct DateOrTime {};

/// One value of a configuration file with its place, free of the library that parsed it.
struct Value {
  Position where = {};
  std::variant<bool, std::int64_t, double, std::string, Array, Table, DateOrTime> data;
};

struct Member {
  std::string key = {};
  Position where = {};  ///< of the key
  Value value;
};

}  // namespace igloo::config
