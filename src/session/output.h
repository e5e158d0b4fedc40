#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace igloo::session {

/// Keeps the first bytes of a stream and counts the rest.
class CappedText {
 public:
  explicit CappedText(std::size_t limit) : limit_(limit) {}
  void Append(std::string_view bytes);
  /// Bytes that went elsewhere.
  void Count(std::uint64_t bytes) { total_ += bytes; }

  const std::string& kept() const { return kept_; }
  std::uint64_t total() const { return total_; }
  bool cut() const { return total_ > kept_.size(); }

 private:
  std::size_t limit_;
  std::string kept_ = {};
  std::uint64_t total_ = 0;
};

}  // namespace igloo::session
