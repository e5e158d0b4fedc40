#include "image/reference.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"

namespace igloo::image {
namespace {

constexpr std::string_view kDirectory = "dir:", kLayout = "oci:", kArchive = "oci-archive:";

Result<std::string> Absolute(std::string_view path, const Base& base) {
  // Names of images are kept as JSON.
  if (path.empty() || path.size() > 4096 || path.contains('\0') || !IsUtf8(path)) {
    return Fail(Errc::kInvalidArgument, "an image has no path that igloo can use",
                "for example: image = \"oci:./layout:latest\"");
  }
  std::string full(path);
  if (path == "~" || path.starts_with("~/")) {
    if (!base.home.starts_with('/')) {
      return Fail(Errc::kFailedPrecondition, "HOME is not set, and the image's path needs it",
                  "write the whole path");
    }
    full = base.home + full.substr(1);
  }
  std::string normal = (std::filesystem::path(base.directory) / full).lexically_normal().string();
  while (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

/// "a/b:1.2" -> "a/b", "1.2". A path with a colon in its last part needs another behind it.
std::pair<std::string_view, std::string_view> SplitTag(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.find('/', colon) != std::string_view::npos) {
    return {text, {}};
  }
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Result<Reference> AtPath(Reference::Kind kind, std::string_view text, const Base& base) {
  const auto [path, tag] =
      kind == Reference::Kind::kDirectory ? std::pair(text, std::string_view()) : SplitTag(text);
  Reference out{.kind = kind, .tag = std::string(tag)};
  IGLOO_ASSIGN(out.path, Absolute(path, base));
  return out;
}

bool IsRegistryName(std::string_view name) {
  const auto fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-/:@+").contains(c);
  };
  return !name.empty() && name.size() <= 512 && name[0] != '-' && name[0] != '/' &&
         name[0] != ':' && !name.contains("..") && !name.contains("//") && !name.ends_with('/') &&
         !name.ends_with(':') && std::ranges::all_of(name, fine);
}

/// The whole name of what people write short.
std::string Whole(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('/'));
  const bool has_host =
      name.contains('/') && (first.contains('.') || first.contains(':') || first == "localhost");
  std::string whole(name);
  if (!has_host) whole = (name.contains('/') ? "docker.io/" : "docker.io/library/") + whole;
  const std::size_t last = whole.rfind('/');
  if (whole.find_first_of(":@", last) == std::string::npos) whole += ":latest";
  return whole;
}

}  // namespace

Result<Reference> ParseReference(std::string_view text, const Base& base) {
  using Kind = Reference::Kind;
  const auto behind = [&](std::string_view prefix) { return text.substr(prefix.size()); };
  if (text.starts_with(kArchive)) return AtPath(Kind::kArchive, behind(kArchive), base);
  if (text.starts_with(kLayout)) return AtPath(Kind::kLayout, behind(kLayout), base);
  if (text.starts_with(kDirectory)) return AtPath(Kind::kDirectory, behind(kDirectory), base);
  const bool path = text.starts_with('/') || text.starts_with('.') || text.starts_with('~');
  if (path) return AtPath(Kind::kDirectory, text, base);
  if (text.starts_with("docker://")) text.remove_prefix(std::string_view("docker://").size());
  if (!IsRegistryName(text)) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(Quoted(text)) + "' names no image",
                "write \"oci:PATH\", \"oci-archive:PATH\", the path of a directory, or a name such "
                "as \"docker.io/library/debian:12\"");
  }
  return Reference{.kind = Kind::kRegistry, .path = Whole(text)};
}

std::string ToText(const Reference& reference) {
  // A colon in the last part of a path would begin a tag; one without a name ends it.
  const bool colon = reference.path.find(':', reference.path.rfind('/') + 1) != std::string::npos;
  const std::string tag = reference.tag.empty() && !colon ? "" : ":" + reference.tag;
  switch (reference.kind) {
    case Reference::Kind::kDirectory:
      return std::string(kDirectory) + reference.path;
    case Reference::Kind::kLayout:
      return std::string(kLayout) + reference.path + tag;
    case Reference::Kind::kArchive:
      return std::string(kArchive) + reference.path + tag;
    case Reference::Kind::kRegistry:
      break;
  }
  return reference.path;
}

}  // namespace igloo::image
