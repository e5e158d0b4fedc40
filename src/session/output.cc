#include "session/output.h"

#include <algorithm>
#include <cstring>

namespace igloo::session {

void CappedText::Append(std::string_view bytes) {
  total_ += bytes.size();
  const std::size_t first = std::min(bytes.size(), limit_ - kept_.size());
  kept_ += bytes.substr(0, first);
  KeepLast(bytes.substr(first));
}

void CappedText::KeepLast(std::string_view bytes) {
  if (last_limit_ == 0) return;
  // Only the end of a long piece can stay.
  if (bytes.size() > last_limit_) bytes.remove_prefix(bytes.size() - last_limit_);
  const std::size_t grows = std::min(bytes.size(), last_limit_ - last_.size());
  last_ += bytes.substr(0, grows);
  bytes.remove_prefix(grows);
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), last_limit_ - next_);
    std::memcpy(last_.data() + next_, bytes.data(), count);
    next_ = (next_ + count) % last_limit_;
    bytes.remove_prefix(count);
  }
}

std::string CappedText::last() const { return last_.substr(next_) + last_.substr(0, next_); }

}  // namespace igloo::session
