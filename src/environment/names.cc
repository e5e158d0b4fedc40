#include "environment/names.h"

#include <algorithm>

namespace igloo::environment {
namespace {

constexpr std::size_t kLongestName = 64, kLongestVariable = 256;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_';
}

}  // namespace

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && IsWord(text[0]) &&
         std::ranges::all_of(text, [](char c) { return IsWord(c) || c == '.' || c == '-'; });
}

bool IsVariableName(std::string_view text) {
  return !text.empty() && text.size() <= kLongestVariable && !IsDigit(text[0]) &&
         std::ranges::all_of(text, IsWord);
}

}  // namespace igloo::environment
