#pragma once

// Encoded lists of operations, as sandbox/ writes them.

#include <cstring>
#include <string_view>
#include <vector>

#include "jail/sandbox.h"

namespace igloo::jail {

class ListOf {
 public:
  /// Appends one; `op` says everything but its sizes.
  ListOf& Add(ops::Op op, std::string_view path = {}, std::string_view text = {}) {
    op.path_size = static_cast<uint32_t>(path.size());
    op.text_size = static_cast<uint32_t>(text.size());
    op.size = static_cast<uint32_t>(ops::PaddedSize(path.size(), text.size()));
    const std::size_t at = words_.size();
    words_.resize(at + op.size / 8);
    auto* const bytes = reinterpret_cast<char*>(words_.data() + at);
    std::memcpy(bytes, &op, sizeof op);
    path.copy(bytes + sizeof op, path.size());
    text.copy(bytes + sizeof op + path.size() + 1, text.size());
    return *this;
  }
  ListOf& Add(ops::Code code, std::string_view path = {}, std::string_view text = {}) {
    ops::Op op{};
    op.code = code;
    op.mode = 0755;
    return Add(op, path, text);
  }
  /// The last operation loses its end.
  List Broken() const { return {words_.data(), static_cast<uint32_t>(words_.size() * 8 - 8)}; }

  operator List() const { return {words_.data(), static_cast<uint32_t>(words_.size() * 8)}; }

 private:
  std::vector<uint64_t> words_ = {};  // aligned, as the launcher's buffer is
};

}  // namespace igloo::jail
