#include "http/fields.h"

#include <algorithm>

#include "base/text.h"

namespace igloo::http {

namespace {

bool SameName(std::string_view one, std::string_view other) {
  return one.size() == other.size() && AsciiLower(one) == AsciiLower(other);
}

}  // namespace

std::string_view Fields::Get(std::string_view name) const {
  for (const Field& each : fields_) {
    if (SameName(each.name, name)) return each.value;
  }
  return {};
}

std::size_t Fields::Count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(fields_, [&](const Field& each) { return SameName(each.name, name); }));
}

}  // namespace igloo::http
