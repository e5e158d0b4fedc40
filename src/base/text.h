#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace igloo {

/// Whether newlines and tabs are shown as they are.
enum class Newlines { kKeep, kEscape };

/// Text that is safe to show on a terminal and reads as it is written: control characters, bytes
/// that are not UTF-8, and characters that turn the direction of text or take no room become
/// visible escapes (\x1b). Newlines and tabs stay only with Newlines::kKeep.
std::string Printable(std::string_view text, Newlines newlines = Newlines::kEscape);

bool IsUtf8(std::string_view bytes);
/// Valid UTF-8 of the same text: every offending byte becomes U+FFFD.
std::string ToUtf8(std::string_view bytes);

/// What a message repeats of others' words: `text` itself, or as many whole characters as fit into
/// `most` bytes and how long it was ("abc... (9000000 bytes)"). Quotation marks are the caller's.
std::string Quoted(std::string_view text, std::size_t most = 200);

/// Quotes a word for a POSIX shell when it needs quoting.
std::string ShellQuote(std::string_view word);

/// "256 MB", "64 KB": whole binary units, for people.
std::string HumanBytes(unsigned long long bytes);

/// The candidate nearest to `word` (at most two edits away), or empty: for "did you mean".
std::string Nearest(std::string_view word, const std::string_view* candidates, std::size_t count);

/// Letters of ASCII become small, other bytes stay.
std::string AsciiLower(std::string_view text);

}  // namespace igloo
