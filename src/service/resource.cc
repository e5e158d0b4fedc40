#include "service/resource.h"

#include <utility>

namespace igloo::service {
namespace {

constexpr std::pair<std::string_view, std::string_view> kMagic[] = {
    {"\x89PNG\r\n\x1a\n", "image/png"},
    {"\xff\xd8\xff", "image/jpeg"},
    {"GIF87a", "image/gif"},
    {"GIF89a", "image/gif"},
    {"%PDF-", "application/pdf"},
    {"PK\x03\x04", "application/zip"},
    {"\x1f\x8b", "application/gzip"},
};

constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
    {".csv", "text/csv"},
    {".json", "application/json"},
    {".html", "text/html"},
    {".htm", "text/html"},
    {".md", "text/markdown"},
    {".svg", "image/svg+xml"},
    {".xml", "application/xml"},
    {".js", "text/javascript"},
    {".css", "text/css"},
    {".py", "text/x-python"},
    {".tsv", "text/tab-separated-values"},
};

}  // namespace

std::string MimeTypeOf(std::string_view path, std::string_view bytes, bool text) {
  for (const auto& [magic, type] : kMagic) {
    if (bytes.starts_with(magic)) return std::string(type);
  }
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "image/webp";
  for (const auto& [ending, type] : kEndings) {
    if (text && path.ends_with(ending)) return std::string(type);
  }
  return text && !bytes.empty() ? "text/plain" : "application/octet-stream";
}

}  // namespace igloo::service
