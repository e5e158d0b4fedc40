#include "tools/store.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "base/text.h"
#include "session/leftovers.h"
#include "tools/clip.h"
#include "tools/uri.h"

namespace igloo::tools {
namespace {

/// Longer names are of no use to anybody in a URI; the number keeps those apart that are cut.
constexpr std::size_t kLongestName = 240;
std::string NameInUri(std::string_view name, std::size_t number) {
  std::string escaped = EscapeForUri(name, Slashes::kKept);
  if (escaped.size() <= kLongestName) return escaped;
  escaped.resize(std::min(escaped.find('%', kLongestName - 2), kLongestName));
  return escaped + "~" + std::to_string(number);
}

/// As text it must fit into an answer; as bytes it always does.
constexpr std::size_t kMostJson = 6U << 20;
bool TravelsAsText(std::string_view bytes) {
  return session::IsPlainText(bytes) && JsonSize(bytes) <= kMostJson;
}

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

mcp::ResourceContents ContentsOf(std::string uri, std::string mime_type, std::string bytes) {
  mcp::ResourceContents contents{.uri = std::move(uri), .mime_type = std::move(mime_type)};
  if (TravelsAsText(bytes)) {
    contents.body = std::move(bytes);
  } else {
    contents.body = mcp::Blob{std::move(bytes)};
  }
  return contents;
}

std::vector<std::string> Store::Keep(std::vector<Item> items) {
  std::size_t size = 0;
  for (const Item& item : items) size += item.bytes.size();
  if (items.empty() || size > limits_.bytes || items.size() > limits_.items) return {};
  while (bytes_ + size > limits_.bytes || items_ + items.size() > limits_.items) DropOldest();
  const std::string prefix = "igloo://run/" + RandomName() + "/";
  std::vector<std::string> uris;
  Run run{.bytes = size};
  for (Item& item : items) {
    mcp::Resource resource{.uri = prefix + NameInUri(item.name, uris.size()),
                           .name = Quoted(ToUtf8(item.name), kLongestName),
                           .mime_type = std::move(item.mime_type),
                           .size = item.bytes.size()};
    uris.push_back(resource.uri);
    run.items.push_back({std::move(resource), std::move(item.bytes)});
  }
  bytes_ += size;
  items_ += run.items.size();
  runs_.push_back(std::move(run));
  ++generation_;
  return uris;
}

void Store::DropOldest() {
  bytes_ -= runs_.front().bytes;
  items_ -= runs_.front().items.size();
  runs_.pop_front();
}

std::vector<mcp::Resource> Store::List() const {
  std::vector<mcp::Resource> list;
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    for (const Kept& each : run->items) list.push_back(each.resource);
  }
  return list;
}

std::optional<mcp::ResourceContents> Store::Read(std::string_view uri) const {
  for (const Run& run : runs_) {
    for (const Kept& each : run.items) {
      if (each.resource.uri != uri) continue;
      return ContentsOf(each.resource.uri, each.resource.mime_type, each.bytes);
    }
  }
  return std::nullopt;
}

}  // namespace igloo::tools
