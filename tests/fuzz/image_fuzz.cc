#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "image/record.h"
#include "image/reference.h"
#include "image/unpack/layout.h"
#include "image/unpack/tar.h"
#include "image/unpack/tree.h"

namespace {

using namespace igloo;
using namespace igloo::image;

void CheckDigest(const std::string& digest) {
  if (!IsDigest(digest)) __builtin_trap();  // it becomes the name of a file
}

class Bytes : public unpack::Stream {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  Result<std::size_t> Read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), bytes_.size());
    if (size > 0) std::memcpy(into.data(), bytes_.data(), size);
    bytes_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view bytes_;
};

void TryLayout(std::string_view text) {
  if (const auto document = unpack::ParseDocument(text, Limits{})) {
    for (const auto* list : {&document->manifests, &document->layers}) {
      for (const unpack::Descriptor& each : *list) CheckDigest(each.digest);
    }
    if (!document->is_index) CheckDigest(document->config.digest);
    if (const auto chosen = unpack::Choose(document->manifests, "", "amd64")) {
      CheckDigest(chosen->digest);
    }
  }
  (void)unpack::ParseConfig(text);
}

void TryRecords(std::string_view text) {
  if (const auto record = ParseRecord(text); record && !record->digest.empty()) {
    CheckDigest(record->digest);
  }
  if (const auto names = ParseNames(text)) {
    for (const auto& each : names->all) CheckDigest(each.second.digest);
    if (ParseNames(ToJson(*names)) != names) __builtin_trap();
  }
  const Base base{.directory = "/etc", .home = "/home"};
  if (const auto reference = ParseReference(text, base)) {
    if (ParseReference(ToText(*reference), base) != reference) __builtin_trap();
  }
}

/// Every member has a path that stays below the directory it is unpacked into, or is refused.
void TryArchive(std::string_view bytes) {
  Bytes stream(bytes);
  unpack::TarReader reader(stream);
  std::array<char, 100> content;
  for (;;) {
    const auto entry = reader.Next();
    if (!entry || !*entry) return;
    const auto path = unpack::CleanPath((*entry)->path, Limits{});
    if (path && (("/" + *path + "/").find("/../") != std::string::npos || path->starts_with('/') ||
                 path->find('\0') != std::string::npos)) {
      __builtin_trap();
    }
    if (!reader.Read(content)) return;
  }
}

}  // namespace

/// Whatever the bytes are: somebody's layout, our own records, a layer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  TryLayout(text);
  TryRecords(text);
  TryArchive(text);
  return 0;
}
