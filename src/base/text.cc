#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace igloo {
namespace {

/// Length of the valid UTF-8 sequence at the start of `text`, or 0.
std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;   // overlong
    if (lead == 0xED) high = 0x9F;  // surrogates
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;  // beyond U+10FFFF
  } else {
    return 0;
  }
  if (text.size() < length || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

/// Length of some valid UTF-8 at the start of `text`, or 0. Most text is ASCII, and is taken by the
/// word.
std::size_t ValidLength(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::size_t plain = 0;
  for (std::uint64_t word = 0; plain + sizeof word <= text.size(); plain += sizeof word) {
    std::memcpy(&word, text.substr(plain, sizeof word).data(), sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  return plain != 0 ? plain : Utf8Length(text);
}

/// The character of a valid sequence of at most three bytes; longer ones are not told apart.
char32_t CharacterOf(std::string_view sequence) {
  const auto bits = [&](std::size_t i, unsigned mask) {
    return static_cast<char32_t>(static_cast<unsigned char>(sequence[i]) & mask);
  };
  if (sequence.size() == 1) return bits(0, 0x7F);
  if (sequence.size() == 2) return bits(0, 0x1F) << 6 | bits(1, 0x3F);
  if (sequence.size() == 3) return bits(0, 0x0F) << 12 | bits(1, 0x3F) << 6 | bits(2, 0x3F);
  return 0x10000;
}

struct Range {
  char32_t first, last;
};

/// SECURITY: beside what drives a terminal, what makes a reader see another text than the one there
/// is: a path shown backwards, two names that look the same.
constexpr Range kUnprintable[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},      // controls; CSI has a form of one character, U+009B
    {0x061C, 0x061C}, {0x200E, 0x200F},  // marks that turn the direction
    {0x202A, 0x202E}, {0x2066, 0x2069},  // embeddings, overrides and isolates
    {0x200B, 0x200D}, {0x2060, 0x2060},  // no width: spaces and joiners
    {0xFEFF, 0xFEFF},                    // byte order mark
};

bool IsUnprintable(std::string_view sequence) {
  const char32_t character = CharacterOf(sequence);
  return std::ranges::any_of(kUnprintable, [&](const Range& range) {
    return range.first <= character && character <= range.last;
  });
}

}  // namespace

std::string Printable(std::string_view text, Newlines newlines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    // Most texts are nothing else.
    const auto end = std::ranges::find_if_not(text, [](char c) { return c >= ' ' && c <= '~'; });
    const auto plain = static_cast<std::size_t>(end - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t length = std::max<std::size_t>(Utf8Length(text), 1);
    const std::string_view sequence = text.substr(0, length);
    const bool valid = Utf8Length(text) != 0;
    const bool keep = (sequence == "\n" || sequence == "\t") && newlines == Newlines::kKeep;
    if (keep || (valid && !IsUnprintable(sequence))) {
      out += sequence;
    } else {
      for (const char c : sequence) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(length);
  }
  return out;
}

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = ValidLength(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string ToUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = ValidLength(bytes);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      bytes.remove_prefix(1);
    } else {
      out += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return out;
}

std::string Quoted(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  constexpr std::size_t kLongestTail = 3;  // of a character, behind its first byte
  const auto is_tail = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  std::size_t end = most;
  while (end > 0 && most - end < kLongestTail && is_tail(end)) --end;
  return fmt::format("{}... ({} bytes)", text.substr(0, end), text.size());
}

std::string ShellQuote(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string HumanBytes(unsigned long long bytes) {
  constexpr unsigned long long kUnit = 1024;
  if (bytes >= kUnit * kUnit * kUnit && bytes % (kUnit * kUnit * kUnit) == 0) {
    return fmt::format("{} GB", bytes / (kUnit * kUnit * kUnit));
  }
  if (bytes >= kUnit * kUnit && bytes % (kUnit * kUnit) == 0) {
    return fmt::format("{} MB", bytes / (kUnit * kUnit));
  }
  if (bytes >= kUnit && bytes % kUnit == 0) return fmt::format("{} KB", bytes / kUnit);
  return fmt::format("{} bytes", bytes);
}

std::string Nearest(std::string_view word, const std::string_view* candidates, std::size_t count) {
  std::string_view best;
  std::size_t best_distance = 3;
  for (std::size_t c = 0; c < count; ++c) {
    const std::string_view other = candidates[c];
    // Too long or too short to be near, and not worth the time: the word may be a stranger's.
    const std::size_t longer = std::max(word.size(), other.size());
    if (longer - std::min(word.size(), other.size()) >= best_distance) continue;
    std::vector<std::size_t> row(other.size() + 1);
    for (std::size_t j = 0; j <= other.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= other.size(); ++j) {
        const std::size_t substitute = diagonal + (word[i - 1] == other[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = other;
    }
  }
  return std::string(best);
}

std::string AsciiLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

}  // namespace igloo
