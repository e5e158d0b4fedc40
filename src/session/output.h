#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace igloo::session {

/// Which bytes of a stream that is too long are worth keeping.
enum class Keep {
  kFirst,
  kFirstAndLast,  ///< half of the room each
};

/// Keeps a bounded part of a stream and counts the rest.
class CappedText {
 public:
  explicit CappedText(std::size_t limit, Keep keep = Keep::kFirst)
      : last_limit_(keep == Keep::kFirst ? 0 : limit / 2), limit_(limit - last_limit_) {}
  void Append(std::string_view bytes);
  /// Bytes that went elsewhere.
  void Count(std::uint64_t bytes) { total_ += bytes; }

  /// The first bytes; all of them when nothing is left out.
  std::string kept() const { return omitted() == 0 ? kept_ + last() : kept_; }
  /// What came last, behind what was left out.
  std::string last() const;
  std::uint64_t total() const { return total_; }
  std::uint64_t omitted() const { return total_ - kept_.size() - last_.size(); }
  bool cut() const { return omitted() > 0; }

 private:
  void KeepLast(std::string_view bytes);

  std::size_t last_limit_, limit_;
  std::string kept_ = {};
  std::string last_ = {};  ///< a ring once it is full
  std::size_t next_ = 0;   ///< where the ring goes on
  std::uint64_t total_ = 0;
};

}  // namespace igloo::session
