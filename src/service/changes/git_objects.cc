#include "service/changes/git_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace igloo::service::changes {
namespace {

using Sha1State = std::array<std::uint32_t, 5>;

void AddBlock(Sha1State& state, const unsigned char* block) {
  std::array<std::uint32_t, 80> words;
  for (std::size_t i = 0; i < 16; ++i) {
    words[i] = static_cast<std::uint32_t>(block[4 * i]) << 24 |
               static_cast<std::uint32_t>(block[4 * i + 1]) << 16 |
               static_cast<std::uint32_t>(block[4 * i + 2]) << 8 | block[4 * i + 3];
  }
  for (std::size_t i = 16; i < 80; ++i) {
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < 80; ++i) {
    const std::uint32_t mixed = i < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                                : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                                : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                                         : (b ^ c ^ d) + 0xca62c1d6;
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const Sha1State added = {a, b, c, d, e};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

std::string Sha1Hex(std::string bytes) {
  const std::uint64_t bits = static_cast<std::uint64_t>(bytes.size()) * 8;
  bytes += '\x80';
  while (bytes.size() % 64 != 56) bytes += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift & 0xff);
  Sha1State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  for (std::size_t at = 0; at < bytes.size(); at += 64) AddBlock(state, data + at);
  std::string hex;
  for (const std::uint32_t word : state) hex += fmt::format("{:08x}", word);
  return hex;
}

std::uint32_t Adler32(std::string_view bytes) {
  std::uint32_t low = 1, high = 0;
  for (const char c : bytes) {
    low = (low + static_cast<unsigned char>(c)) % 65521;
    high = (high + low) % 65521;
  }
  return high << 16 | low;
}

/// A zlib stream that holds the bytes as they are: patches with binaries are rare, and a compressor
/// is a library.
std::string Stored(std::string_view bytes) {
  std::string stream = "\x78\x01";
  const std::uint32_t sum = Adler32(bytes);
  do {
    const std::string_view block = bytes.substr(0, 65535);
    bytes.remove_prefix(block.size());
    const auto size = static_cast<std::uint16_t>(block.size());
    const auto inverse = static_cast<std::uint16_t>(~size);
    stream += bytes.empty() ? '\x01' : '\0';
    for (const std::uint16_t number : {size, inverse}) {
      stream += static_cast<char>(number & 0xff);
      stream += static_cast<char>(number >> 8);
    }
    stream += block;
  } while (!bytes.empty());
  for (int shift = 24; shift >= 0; shift -= 8) stream += static_cast<char>(sum >> shift & 0xff);
  return stream;
}

/// Git's base 85: four bytes are five characters.
void AppendBase85(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const bool there = at + i < bytes.size();
      value = value << 8 | (there ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    std::array<char, 5> digits;
    for (std::size_t i = 5; i-- > 0; value /= 85) digits[i] = kDigits[value % 85];
    out.append(digits.data(), digits.size());
  }
}

}  // namespace

std::string BlobName(std::string_view content) {
  std::string object = fmt::format("blob {}", content.size());
  object += '\0';
  object += content;
  return Sha1Hex(std::move(object));
}

std::string BinaryLiteral(std::string_view content) {
  std::string text = fmt::format("literal {}\n", content.size());
  const std::string stream = Stored(content);
  for (std::string_view rest = stream; !rest.empty();) {
    const std::string_view line = rest.substr(0, 52);
    rest.remove_prefix(line.size());
    // The length: A to Z are 1 to 26, a to z are 27 to 52.
    text += static_cast<char>(line.size() <= 26 ? 'A' + line.size() - 1 : 'a' + line.size() - 27);
    AppendBase85(text, line);
    text += '\n';
  }
  return text + "\n";
}

std::string PatchPath(std::string_view prefix, std::string_view path) {
  std::string out(prefix);
  bool quoted = false;
  constexpr std::string_view kSpecial = "\a\b\t\n\v\f\r\"\\", kLetters = "abtnvfr\"\\";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (const std::size_t at = kSpecial.find(c); at != std::string_view::npos) {
      out += '\\';
      out += kLetters[at];
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\{:03o}", byte);
    } else {
      out += c;
      continue;
    }
    quoted = true;
  }
  return quoted ? '"' + out + '"' : out;
}

}  // namespace igloo::service::changes
