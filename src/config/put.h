#pragma once

// Where most values of a configuration go: into one field, as they are.

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "config/schema.h"

namespace igloo::config {

template <class Field>
struct OwnerOf;
template <class Value, class Owner>
struct OwnerOf<Value Owner::*> {
  using Type = Owner;
};

template <class Owner>
Owner& PartOf(Target& target) {
  if constexpr (std::is_same_v<Owner, EnvironmentConfig>) {
    return *target.environment;
  } else if constexpr (std::is_same_v<Owner, SecretConfig>) {
    return *target.secret;
  } else if constexpr (std::is_same_v<Owner, AgentConfig>) {
    return *target.agent;
  } else {
    return target.config;
  }
}

inline void Assign(std::string& field, const Checked& value) { field = value.text; }
inline void Assign(std::vector<std::string>& field, const Checked& value) { field = value.list; }
inline void Assign(std::map<std::string, std::string>& field, const Checked& value) {
  field = value.table;
}
template <class Number>
void Assign(Number& field, const Checked& value) {
  if constexpr (std::is_same_v<Number, bool> || std::is_same_v<Number, std::optional<bool>>) {
    field = value.flag;
  } else if constexpr (std::is_integral_v<Number>) {
    field = static_cast<Number>(value.number);
  } else {
    field = value.number;
  }
}

/// Stores a value as it is: in a field of a Config, an EnvironmentConfig and so on, or in a field
/// of a field of it.
template <auto kField, auto kInIt = nullptr>
void Put(Target& target, const Checked& value) {
  auto& field = PartOf<typename OwnerOf<decltype(kField)>::Type>(target).*kField;
  if constexpr (std::is_null_pointer_v<decltype(kInIt)>) {
    Assign(field, value);
  } else {
    Assign(field.*kInIt, value);
  }
}

}  // namespace igloo::config
