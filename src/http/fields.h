#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace igloo::http {

struct Field {
  std::string name = {}, value = {};
  bool operator==(const Field&) const = default;
};

/// The fields of a head, in their order. Names are the same in any case of their letters.
class Fields {
 public:
  Fields() = default;
  Fields(std::initializer_list<Field> fields) : fields_(fields) {}

  void Add(std::string name, std::string value) {
    fields_.push_back({std::move(name), std::move(value)});
  }
  /// The first value of this name; empty when there is none.
  std::string_view Get(std::string_view name) const;
  std::size_t Count(std::string_view name) const;

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  bool operator==(const Fields&) const = default;

 private:
  std::vector<Field> fields_ = {};
};

}  // namespace igloo::http
