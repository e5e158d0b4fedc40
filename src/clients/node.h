#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace igloo::clients {

inline constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Nesting beyond this is refused: nobody's configuration has it, and no file may exhaust the
/// stack.
inline constexpr int kMaxDepth = 128;

struct Member;

/// A value and where its text stands: what an editor needs that leaves all other bytes alone.
struct Node {
  enum class Type { kObject, kArray, kString, kOther };
  Type type = Type::kOther;
  std::size_t begin = 0, end = 0;  ///< of its text
  std::string text;                ///< of kString: what it stands for
  std::vector<Member> members;     ///< of kObject
  std::vector<Node> items;         ///< of kArray
};

/// One key of an object with its value.
struct Member {
  std::string key;
  std::size_t key_begin = 0, key_end = 0;
  Node value;
  std::size_t comma = kNowhere;  ///< of the comma behind it
};

/// What is wrong with a text, and where.
struct Mistake {
  std::size_t offset = 0;
  std::string what = {};
  std::string hint = {};
};

template <class T>
using Scanned = std::expected<T, Mistake>;

/// "FILE:LINE:COLUMN: what", with lines and characters counted from one.
Error ToError(std::string_view file, std::string_view text, const Mistake& mistake);

/// "FILE:LINE"
std::string LineOf(std::string_view file, std::string_view text, std::size_t offset);

void AppendUtf8(std::string& out, char32_t character);

/// Reads up to `digits` hexadecimal digits at `at`; nullopt-like: -1 when there are fewer.
long ReadHex(std::string_view text, std::size_t at, std::size_t digits);

/// The newline that the text uses: that of its first line.
std::string_view NewlineOf(std::string_view text);

/// The text without the bytes of [begin, end).
std::string Cut(std::string_view text, std::size_t begin, std::size_t end);

/// A mistake when the text is not UTF-8.
Scanned<void> CheckUtf8(std::string_view text);

}  // namespace igloo::clients
