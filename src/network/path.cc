#include "network/path.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace igloo::network {

namespace {

std::unexpected<Error> Bad(std::string_view path, std::string why) {
  return Fail(Errc::kInvalidArgument,
              "the path '" + Printable(Quoted(path, 80)) + "' " + std::move(why));
}

std::optional<unsigned> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

bool IsUnreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '_' || c == '~';
}

/// Servers that know path parameters take "..;x" for "..".
bool IsDots(std::string_view segment) {
  const auto bare = segment.substr(0, segment.find(';'));
  return bare == "." || bare == "..";
}

}  // namespace

Result<std::string> CanonicalPath(std::string_view path) {
  if (!path.starts_with('/')) return Bad(path, "does not begin with '/'");
  std::string canonical, plain;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (c == '\\' || static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '?' || c == '#') {
      return Bad(path, "holds a character that no path holds");
    }
    if (c != '%') {
      // In a rule a star means something else.
      canonical += c == '*' ? "%2A" : std::string(1, c);
      plain += c;
      continue;
    }
    const auto high = i + 2 < path.size() ? HexDigit(path[i + 1]) : std::nullopt;
    const auto low = high ? HexDigit(path[i + 2]) : std::nullopt;
    if (!low) return Bad(path, "holds a percent sign without two digits");
    const auto byte = static_cast<char>(*high * 16 + *low);
    if (byte == '.') return Bad(path, "holds an encoded dot");
    if (byte == '/' || byte == '\\') return Bad(path, "holds an encoded slash");
    if (byte == '%') return Bad(path, "is encoded twice");
    if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) {
      return Bad(path, "holds an encoded control byte");
    }
    plain += byte;
    if (IsUnreserved(byte)) {
      canonical += byte;
    } else {
      constexpr char kDigits[] = "0123456789ABCDEF";
      canonical += {'%', kDigits[*high], kDigits[*low]};
    }
    i += 2;
  }
  // Overlong forms of dots and slashes are no UTF-8.
  if (!IsUtf8(plain)) return Bad(path, "is not UTF-8");
  for (std::string_view rest = canonical; !rest.empty();) {
    const std::size_t slash = rest.find('/');
    if (IsDots(rest.substr(0, slash))) return Bad(path, "holds '.' or '..'");
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  return canonical;
}

}  // namespace igloo::network
