#include "service/output_store.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "base/text.h"
#include "service/uri.h"

namespace igloo::service {
namespace {

/// Longer names are of no use to anybody in a URI; the number keeps those apart that are cut.
constexpr std::size_t kLongestName = 240;
std::string NameInUri(std::string_view name, std::size_t number) {
  std::string escaped = EscapeForUri(name, Slashes::kKept);
  if (escaped.size() <= kLongestName) return escaped;
  escaped.resize(std::min(escaped.find('%', kLongestName - 2), kLongestName));
  return escaped + "~" + std::to_string(number);
}

}  // namespace

std::vector<std::string> OutputStore::Keep(std::vector<Item> items) {
  std::size_t size = 0;
  for (const Item& item : items) size += item.bytes.size();
  if (items.empty() || size > limits_.bytes || items.size() > limits_.items) return {};
  while (bytes_ + size > limits_.bytes || items_ + items.size() > limits_.items) DropOldest();
  const std::string prefix = "igloo://run/" + RandomName() + "/";
  std::vector<std::string> uris;
  Run run{.bytes = size};
  for (Item& item : items) {
    Resource resource{.uri = prefix + NameInUri(item.name, uris.size()),
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

void OutputStore::DropOldest() {
  bytes_ -= runs_.front().bytes;
  items_ -= runs_.front().items.size();
  runs_.pop_front();
}

std::vector<Resource> OutputStore::List() const {
  std::vector<Resource> list;
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    for (const Kept& each : run->items) list.push_back(each.resource);
  }
  return list;
}

std::optional<ResourceContents> OutputStore::Read(std::string_view uri) const {
  for (const Run& run : runs_) {
    for (const Kept& each : run.items) {
      if (each.resource.uri != uri) continue;
      return ResourceContents{each.resource.uri, each.resource.mime_type, each.bytes};
    }
  }
  return std::nullopt;
}

}  // namespace igloo::service
