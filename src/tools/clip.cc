#include "tools/clip.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace igloo::tools {
namespace {

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Controls of one character (U+0080 to U+009F) are ESC and a letter in another form.
bool IsOneControl(std::string_view text) {
  return text.size() >= 2 && text[0] == '\xc2' && static_cast<unsigned char>(text[1]) < 0xa0;
}

/// Where the next sequence of a terminal's begins, or the end.
std::size_t FindSequence(std::string_view text) {
  std::size_t at = 0;
  for (;; ++at) {
    at = std::min(text.find_first_of("\x1b\xc2", at), text.size());
    if (at == text.size() || text[at] == '\x1b' || IsOneControl(text.substr(at))) return at;
  }
}

/// How long the terminal's sequence is that begins at text[0].
std::size_t SequenceSize(std::string_view text) {
  if (text.size() < 2) return 1;
  const bool one = IsOneControl(text);
  const char kind = one ? static_cast<char>(text[1] - 0x40) : text[1];
  if (kind == '[') {  // parameters, then one final byte
    for (std::size_t i = 2; i < text.size(); ++i) {
      if (text[i] >= 0x40 && text[i] <= 0x7e) return i + 1;
      if (text[i] < 0x20) return i;
    }
    return text.size();
  }
  if (kind == ']' || kind == 'P' || kind == '_' || kind == '^') {  // up to BEL or ESC backslash
    for (std::size_t i = 2; i < text.size(); ++i) {
      if (text[i] == '\a') return i + 1;
      if (text.substr(i).starts_with("\xc2\x9c")) return i + 2;
      if (text[i] == '\x1b') return i + (i + 1 < text.size() && text[i + 1] == '\\' ? 2 : 0);
      if (text[i] == '\n') return i;
    }
    return text.size();
  }
  if (one) return 2;
  // Intermediate bytes, then one final byte: character sets and the like.
  std::size_t i = 1;
  while (i < text.size() && text[i] >= 0x20 && text[i] <= 0x2f) ++i;
  const bool final = i < text.size() && text[i] >= 0x30 && text[i] <= 0x7e;
  return final ? i + 1 : i;
}

std::string WithoutSequences(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = FindSequence(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(SequenceSize(text));
  }
  return out;
}

/// The end of `text` of at most `most` bytes that does not begin inside a character.
std::string_view WholeEnd(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  text.remove_prefix(text.size() - most);
  std::size_t skip = 0;
  while (skip < std::min<std::size_t>(3, text.size()) && Continues(text[skip])) ++skip;
  return text.substr(skip);
}

/// A line is worth keeping whole when that costs at most a quarter of what is shown.
std::string_view UpToLine(std::string_view head) {
  const std::size_t end = head.rfind('\n');
  const bool cheap = end != std::string_view::npos && end + 1 >= head.size() - head.size() / 4;
  return cheap ? head.substr(0, end + 1) : head;
}
std::string_view FromLine(std::string_view tail) {
  const std::size_t end = tail.find('\n');
  const bool cheap = end != std::string_view::npos && end < tail.size() / 4;
  return cheap ? tail.substr(end + 1) : tail;
}

}  // namespace

std::string_view WholeCharacters(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  // A byte that continues a character has its beginning at most three before it.
  for (int i = 0; i < 3 && end > 0 && Continues(text[end]); ++i) --end;
  if (Continues(text[end])) end = most;  // not UTF-8 at all
  return text.substr(0, end);
}

std::size_t JsonSize(std::string_view text) {
  std::size_t size = text.size();
  for (const char c : text) {
    const bool named =
        c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f';
    if (named) {
      size += 1;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      size += 5;
    }
  }
  return size;
}

std::string Clean(std::string_view bytes, Sequences sequences) {
  const bool keep = sequences == Sequences::kKeep;
  if (keep || FindSequence(bytes) == bytes.size()) return ToUtf8(bytes);
  return ToUtf8(WithoutSequences(bytes));
}

Share Divide(std::size_t room, std::uint64_t output, std::uint64_t error) {
  const std::uint64_t unused = output < room ? room - output : 0;
  const std::uint64_t for_error = std::min(error, std::max<std::uint64_t>(room / 4, unused));
  return {.output = room - static_cast<std::size_t>(for_error),
          .error = static_cast<std::size_t>(for_error)};
}

Shown Clip(const session::CappedText& stream, std::size_t room, std::string_view advice,
           Sequences sequences) {
  const std::string kept = stream.kept();
  if (!stream.cut() && kept.size() <= room) return {.text = Clean(kept, sequences)};
  const std::string last = stream.cut() ? stream.last() : "";
  const std::string_view head = UpToLine(WholeCharacters(kept, room / 2));
  // Where all was captured, beginning and end are parts of one text.
  const std::string_view behind =
      stream.cut() ? std::string_view(last) : std::string_view(kept).substr(head.size());
  const std::string_view tail = FromLine(WholeEnd(behind, room / 2));
  Shown shown{.text = Clean(head, sequences),
              .omitted = stream.total() - head.size() - tail.size()};
  if (!shown.text.empty() && !shown.text.ends_with('\n')) shown.text += '\n';
  shown.text += fmt::format("[... {} of {} bytes left out{}{}]\n", shown.omitted, stream.total(),
                            advice.empty() ? "" : "; ", advice);
  shown.text += Clean(tail, sequences);
  return shown;
}

}  // namespace igloo::tools
