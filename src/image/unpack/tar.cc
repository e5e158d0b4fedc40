#include "image/unpack/tar.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

namespace igloo::image::unpack {
namespace {

constexpr std::size_t kBlockSize = 512;
/// Long names and what pax says of one member; real ones have a few hundred bytes.
constexpr std::uint64_t kMaxText = 1U << 20;
constexpr std::uint64_t kMaxSize = 1ULL << 50;

std::unexpected<Error> Broken(std::string what) {
  return Fail(Errc::kInvalidArgument, "the archive is broken: " + std::move(what));
}

std::string_view Field(const std::array<char, kBlockSize>& block, std::size_t at,
                       std::size_t size) {
  return {block.data() + at, size};
}

/// Up to the first NUL.
std::string Text(std::string_view field) { return std::string(field.substr(0, field.find('\0'))); }

/// Old programs summed up signed characters.
bool ChecksumFits(const std::array<char, kBlockSize>& block, std::int64_t wanted) {
  std::int64_t plain = 0, odd = 0;
  for (std::size_t i = 0; i < kBlockSize; ++i) {
    const char c = i >= 148 && i < 156 ? ' ' : block[i];
    plain += static_cast<unsigned char>(c);
    odd += static_cast<signed char>(c);
  }
  return wanted == plain || wanted == odd;
}

template <class T>
std::optional<T> Number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

TarEntry::Kind KindOf(char type, std::string_view path) {
  switch (type) {
    case '\0':
    case '0':
    case '7':
      // The oldest form says so by the name.
      return path.ends_with('/') ? TarEntry::Kind::kDirectory : TarEntry::Kind::kFile;
    case '1':
      return TarEntry::Kind::kHardLink;
    case '2':
      return TarEntry::Kind::kSymlink;
    case '5':
      return TarEntry::Kind::kDirectory;
    default:
      return TarEntry::Kind::kDropped;
  }
}

/// The name in a header, without what extended ones say.
std::string PathOf(const std::array<char, kBlockSize>& block) {
  std::string path = Text(Field(block, 0, 100));
  const bool posix = Field(block, 257, 6) == std::string_view("ustar\0", 6);
  const std::string prefix = posix ? Text(Field(block, 345, 155)) : "";
  return prefix.empty() ? path : prefix + "/" + path;
}

}  // namespace

Result<std::optional<std::int64_t>> ParseTarNumber(std::span<const char> field) {
  const auto first = static_cast<unsigned char>(field[0]);
  if ((first & 0x80) != 0) {  // GNU: binary, big-endian, for what eight digits cannot hold
    if (first != 0x80) return std::nullopt;  // negative
    std::uint64_t value = 0;
    for (const char c : field.subspan(1)) {
      if (value >> 55 != 0) return Broken("a number is too large");
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return static_cast<std::int64_t>(value);
  }
  std::string_view text(field.data(), field.size());
  text = text.substr(0, text.find('\0'));
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return 0;
  text = text.substr(begin, text.find_last_not_of(' ') - begin + 1);
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '7') return Broken("a number has other characters than digits");
    value = value << 3 | (c - '0');
  }
  return value;
}

/// As much of `into` as there is.
Result<std::size_t> TarReader::Fill(std::span<char> into) {
  std::size_t size = 0;
  while (size < into.size()) {
    IGLOO_ASSIGN(const std::size_t more, stream_.Read(into.subspan(size)));
    if (more == 0) break;
    size += more;
  }
  return size;
}

/// False at the end of everything.
Result<bool> TarReader::ReadBlock(Block& block) {
  IGLOO_ASSIGN(const std::size_t size, Fill(block));
  if (size == 0) return false;
  if (size < block.size()) return Broken("it ends too early");
  return true;
}

Result<std::string> TarReader::ReadText(std::uint64_t size) {
  if (size > kMaxText) return Broken("a name or an attribute is too long");
  std::string text(size, '\0');
  IGLOO_ASSIGN(const std::size_t read, Fill(text));
  if (read < size) return Broken("it ends too early");
  IGLOO_TRY(Skip((kBlockSize - size % kBlockSize) % kBlockSize));
  return text;
}

Result<void> TarReader::Skip(std::uint64_t size) {
  std::array<char, 16384> nowhere;
  while (size > 0) {
    const std::size_t most = std::min<std::uint64_t>(size, nowhere.size());
    IGLOO_ASSIGN(const std::size_t read, stream_.Read(std::span(nowhere).first(most)));
    if (read == 0) return Broken("it ends too early");
    size -= read;
  }
  return {};
}

Result<void> TarReader::SkipMember() {
  IGLOO_TRY(Skip(left_));
  IGLOO_TRY(Skip(padding_));
  left_ = padding_ = 0;
  return {};
}

Result<std::size_t> TarReader::Read(std::span<char> into) {
  const std::size_t most = std::min<std::uint64_t>(left_, into.size());
  if (most == 0) return 0;
  IGLOO_ASSIGN(const std::size_t size, stream_.Read(into.first(most)));
  if (size == 0) return Broken("it ends too early");
  left_ -= size;
  return size;
}

Result<bool> TarReader::TakeExtended(char type, std::uint64_t size, Extended& extended) {
  if (type != 'x' && type != 'g' && type != 'L' && type != 'K') return false;
  IGLOO_ASSIGN(const std::string text, ReadText(size));
  if (type == 'L') extended.path = Text(text);
  if (type == 'K') extended.target = Text(text);
  if (type != 'x') return true;  // 'g' is for the whole archive: comments, in practice
  std::string_view rest = text;
  while (!rest.empty()) {  // "30 mtime=1350244992.023960108\n"
    const std::size_t blank = rest.find(' ');
    const auto length = Number<std::size_t>(rest.substr(0, blank));
    if (blank == std::string_view::npos || !length || *length <= blank + 1 ||
        *length > rest.size() || rest[*length - 1] != '\n') {
      return Broken("an attribute is not one");
    }
    const std::string_view record = rest.substr(blank + 1, *length - blank - 2);
    rest.remove_prefix(*length);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return Broken("an attribute is not one");
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key.starts_with("GNU.sparse.")) {
      return Fail(Errc::kInvalidArgument, "the archive has files with holes, which are not taken");
    }
    if (key == "path") extended.path = value;
    if (key == "linkpath") extended.target = value;
    if (key == "size") {
      extended.size = Number<std::uint64_t>(value);
      if (!extended.size) return Broken("a size is no number");
    }
    if (key == "mtime") extended.time = Number<std::int64_t>(value.substr(0, value.find('.')));
  }
  return true;
}

Result<std::optional<TarEntry>> TarReader::Next() {
  IGLOO_TRY(SkipMember());
  Extended extended;
  // Each header of its own says something else; more than these say nothing new.
  for (int headers = 0; headers < 8; ++headers) {
    Block block;
    IGLOO_ASSIGN(const bool more, ReadBlock(block));
    const bool empty = std::ranges::all_of(block, [](char c) { return c == '\0'; });
    if (!more || empty) return std::nullopt;
    const auto number = [&](std::size_t at, std::size_t size) {
      return ParseTarNumber(std::span(block).subspan(at, size));
    };
    IGLOO_ASSIGN(const auto checksum, number(148, 8));
    if (!checksum || !ChecksumFits(block, *checksum)) return Broken("a checksum is wrong");
    IGLOO_ASSIGN(const auto size, number(124, 12));
    if (!size || *size < 0) return Broken("a size is negative");
    const char type = block[156];
    if (type == 'S') {
      return Fail(Errc::kInvalidArgument, "the archive has files with holes, which are not taken");
    }
    IGLOO_ASSIGN(const bool taken, TakeExtended(type, static_cast<std::uint64_t>(*size), extended));
    if (taken) continue;

    IGLOO_ASSIGN(const auto mode, number(100, 8));
    IGLOO_ASSIGN(const auto time, number(136, 12));
    TarEntry entry{.path = extended.path.value_or(PathOf(block)),
                   .target = extended.target.value_or(Text(Field(block, 157, 100))),
                   .size = extended.size.value_or(static_cast<std::uint64_t>(*size)),
                   .mode = static_cast<std::uint32_t>(mode.value_or(0)),
                   .time = extended.time.value_or(time.value_or(0))};
    entry.kind = KindOf(type, entry.path);
    // Links, directories and devices have no content, whatever their headers say.
    if (type >= '1' && type <= '6') entry.size = 0;
    if (entry.size > kMaxSize) return Broken("a size is too large");
    if ((entry.path + entry.target).find('\0') != std::string::npos) {
      return Broken("a name has a NUL in it");
    }
    left_ = entry.size;
    padding_ = (kBlockSize - entry.size % kBlockSize) % kBlockSize;
    return entry;
  }
  return Broken("a file has too many headers");
}

}  // namespace igloo::image::unpack
