#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "session/output.h"

namespace igloo::tools {

/// What becomes of sequences that colour a terminal or move its cursor: those that ESC begins, and
/// the controls U+0080 to U+009F, which are the same in another form.
enum class Sequences { kRemove, kKeep };

/// Output as a model reads it: valid UTF-8, without such sequences unless they are to stay.
std::string Clean(std::string_view bytes, Sequences sequences = Sequences::kRemove);

/// What of a stream is shown.
struct Shown {
  std::string text = {};
  std::uint64_t omitted = 0;  ///< bytes of the stream that are not in it
};

/// At most `room` bytes of a stream: all of it, or its beginning and its end at whole characters
/// and, where that costs little, whole lines. A line between them says exactly how much is missing
/// and, unless that is empty, what to do about it: `advice`.
Shown Clip(const session::CappedText& stream, std::size_t room, std::string_view advice,
           Sequences sequences = Sequences::kRemove);

/// How much of `room` each stream gets: errors are short as a rule, and matter.
struct Share {
  std::size_t output = 0, error = 0;
};
Share Divide(std::size_t room, std::uint64_t output, std::uint64_t error);

/// The longest beginning of at most `most` bytes that does not cut a character.
std::string_view WholeCharacters(std::string_view text, std::size_t most);

/// How many bytes valid UTF-8 takes as a string in JSON, without the quotation marks.
std::size_t JsonSize(std::string_view text);

}  // namespace igloo::tools
