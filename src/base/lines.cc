#include "base/lines.h"

#include <algorithm>
#include <utility>

namespace igloo {

namespace {

/// A buffer that once held a large line gives its memory back.
constexpr std::size_t kUsualCapacity = 256U << 10;

}  // namespace

void LineBuffer::Forget(std::size_t count) {
  bytes_.erase(0, count);
  begin_ = 0;
  searched_ = 0;
  if (bytes_.empty() && bytes_.capacity() > kUsualCapacity) bytes_.shrink_to_fit();
}

std::optional<Line> LineBuffer::Next() {
  for (;;) {
    const std::size_t end = bytes_.find('\n', std::max(begin_, searched_));
    const std::size_t have = (end == std::string::npos ? bytes_.size() : end) - begin_;
    std::string_view text(bytes_.data() + begin_, have);
    dropping_ = dropping_ || have > limit_;
    if (dropping_ && dropped_) dropped_(text);
    if (end == std::string::npos) {
      if (dropping_) {
        Forget(bytes_.size());
      } else {
        // Moving what is left once per read instead of once per line keeps many lines cheap.
        if (begin_ != 0) Forget(begin_);
        searched_ = bytes_.size();
      }
      return std::nullopt;
    }
    begin_ = end + 1;
    searched_ = begin_;
    if (std::exchange(dropping_, false)) return Line{.too_long = true};
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.find_first_not_of(" \t") == std::string_view::npos) continue;
    return Line{.text = std::string(text)};
  }
}

}  // namespace igloo
