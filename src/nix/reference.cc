#include "nix/reference.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"

namespace igloo::nix {
namespace {

constexpr std::size_t kMostBytes = 2048;
constexpr std::size_t kMostName = 64;
constexpr const char* kExamples = "write nixpkgs#ripgrep, github:owner/repo#name or /a/path#name";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::unexpected<Error> Bad(std::string_view text, const std::string& why) {
  return Fail(Errc::kInvalidArgument, "'" + Quoted(Printable(text)) + "' is no flake: " + why,
              kExamples);
}

/// "github" of "github:owner/repo"; empty when there is none.
std::string_view SchemeOf(std::string_view flake) {
  const std::size_t colon = flake.find(':');
  if (colon == std::string_view::npos || colon == 0 || !IsLetter(flake[0])) return {};
  const std::string_view scheme = flake.substr(0, colon);
  const bool fine = std::ranges::all_of(
      scheme, [](char c) { return IsLetter(c) || IsDigit(c) || c == '+' || c == '.' || c == '-'; });
  return fine ? scheme : std::string_view();
}

bool IsRelative(std::string_view path) {
  return path == "." || path == ".." || path.starts_with("./") || path.starts_with("../");
}

/// "nixpkgs" or "nixpkgs/nixos-25.11": what Nix looks up in its registry.
bool IsRegistryName(std::string_view flake) {
  return IsLetter(flake[0]) && std::ranges::all_of(flake, [](char c) {
           return IsLetter(c) || IsDigit(c) || std::string_view("_-./").contains(c);
         });
}

std::string Absolute(std::string_view path, const std::string& directory) {
  std::string whole = std::filesystem::path(directory + "/" + std::string(path)).lexically_normal();
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  return whole;
}

Result<std::string> ReadFlake(std::string_view text, std::string_view flake,
                              const std::string& directory) {
  if (flake.empty()) return Bad(text, "it names nothing");
  if (flake.starts_with('/')) return std::string(flake);
  if (IsRelative(flake)) return Absolute(flake, directory);
  constexpr std::string_view kPath = "path:";
  if (flake.starts_with(kPath) && IsRelative(flake.substr(kPath.size()))) {
    return std::string(kPath) + Absolute(flake.substr(kPath.size()), directory);
  }
  if (!SchemeOf(flake).empty() || IsRegistryName(flake)) return std::string(flake);
  return Bad(text, "it is neither an address, nor a path, nor a name");
}

/// Parts with dots between them; one in quotes may hold dots itself.
Result<std::vector<std::string>> ReadAttribute(std::string_view text, std::string_view attribute) {
  std::vector<std::string> parts;
  while (true) {
    std::string part;
    if (attribute.starts_with('"')) {
      const std::size_t end = attribute.find('"', 1);
      if (end == std::string_view::npos) return Bad(text, "a quotation mark is not closed");
      part = attribute.substr(1, end - 1);
      attribute.remove_prefix(end + 1);
    } else {
      part = attribute.substr(0, attribute.find('.'));
      attribute.remove_prefix(part.size());
      const bool fine = std::ranges::all_of(part, [](char c) {
        return IsLetter(c) || IsDigit(c) || std::string_view("_-'+").contains(c);
      });
      if (!fine) return Bad(text, "'" + Printable(part) + "' is no name of an attribute");
    }
    if (part.empty()) return Bad(text, "a part of the attribute is empty");
    parts.push_back(std::move(part));
    if (attribute.empty()) return parts;
    if (attribute[0] != '.') return Bad(text, "behind a quotation mark comes a dot");
    attribute.remove_prefix(1);
  }
}

}  // namespace

Result<Reference> ParseReference(std::string_view text, const std::string& directory) {
  if (text.size() > kMostBytes) return Bad(text, "it is longer than 2048 bytes");
  const auto control = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; };
  // SECURITY: an argument that begins with '-' is an option of Nix, and a line of its own could be
  // read as anything.
  if (text.starts_with('-')) return Bad(text, "it begins with '-'");
  if (std::ranges::any_of(text, control)) return Bad(text, "it has a blank or a control character");
  if (!IsUtf8(text)) return Bad(text, "it is not UTF-8");
  const std::size_t hash = text.find('#');
  Reference reference;
  IGLOO_ASSIGN(reference.flake, ReadFlake(text, text.substr(0, hash), directory));
  if (hash != std::string_view::npos && hash + 1 < text.size()) {
    IGLOO_ASSIGN(reference.attribute, ReadAttribute(text, text.substr(hash + 1)));
  }
  return reference;
}

std::string ToText(const Reference& reference) {
  std::string out = reference.flake;
  for (std::size_t i = 0; i < reference.attribute.size(); ++i) {
    const std::string& part = reference.attribute[i];
    const bool quotes = part.contains('.') || part.contains('#');
    out += (i == 0 ? "#" : ".") + (quotes ? "\"" + part + "\"" : part);
  }
  return out;
}

std::string NameFor(const Reference& reference) {
  std::string_view from = reference.flake;
  const bool means_default =
      reference.attribute.empty() ||
      (reference.attribute.size() > 1 && reference.attribute.back() == "default");
  if (!means_default) {
    from = reference.attribute.back();
  } else {
    from = from.substr(0, from.find('?'));
    from.remove_prefix(SchemeOf(from).empty() ? 0 : SchemeOf(from).size() + 1);
    // The third part of github:owner/repo/branch is no name of what is in it.
    const bool hosted = reference.flake.starts_with("git") && !reference.flake.starts_with("git+");
    if (hosted) {
      const std::size_t owner = from.find('/');
      if (owner != std::string_view::npos) from.remove_prefix(owner + 1);
      from = from.substr(0, from.find('/'));
    }
    while (from.ends_with('/')) from.remove_suffix(1);
    if (const std::size_t slash = from.rfind('/'); slash != std::string_view::npos) {
      from.remove_prefix(slash + 1);
    }
  }
  std::string name;
  for (const char c : from.substr(0, kMostName)) {
    const bool fine = IsLetter(c) || IsDigit(c) || c == '.' || c == '_' || c == '-';
    const bool first = IsLetter(c) || IsDigit(c);
    if (name.empty() && !first) continue;
    name += fine ? c : '-';
  }
  return name.empty() ? "flake" : name;
}

std::string NixString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
      case '$':
        out += '\\';
        out += c;
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += c;
    }
  }
  return out + "\"";
}

}  // namespace igloo::nix
