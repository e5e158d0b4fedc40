#pragma once

// Numbers and texts as bytes, for files that only igloo writes and reads.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "service/changes/node.h"

namespace igloo::service::changes {

class Packer {
 public:
  void Number(std::uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), 8); }
  void Text(std::string_view text) {
    Number(text.size());
    bytes_.append(text);
  }
  void Entry(const Node& node) {
    Number(static_cast<std::uint64_t>(node.type) | static_cast<std::uint64_t>(node.mode) << 8);
    Number(node.size);
    Number(static_cast<std::uint64_t>(node.modified));
    Number(static_cast<std::uint64_t>(node.changed));
    Number(node.inode);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = {};
};

/// Reads them back. After something that is not there, everything is empty and ok() is false.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t Number() {
    std::uint64_t value = 0;
    const std::string_view taken = Take(8);
    if (taken.size() == 8) std::memcpy(&value, taken.data(), 8);
    return value;
  }
  std::string Text() { return std::string(Take(Number())); }
  Node Entry() {
    Node node;
    const std::uint64_t first = Number();
    node.type = static_cast<Type>(first & 0xff);
    node.mode = static_cast<std::uint32_t>(first >> 8);
    node.size = Number();
    node.modified = static_cast<std::int64_t>(Number());
    node.changed = static_cast<std::int64_t>(Number());
    node.inode = Number();
    return node;
  }
  bool ok() const { return ok_; }
  bool done() const { return bytes_.empty(); }

 private:
  std::string_view Take(std::uint64_t size) {
    if (size > bytes_.size()) {
      ok_ = false;
      bytes_ = {};
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace igloo::service::changes
