#include "session/output.h"

#include <algorithm>

namespace igloo::session {

void CappedText::Append(std::string_view bytes) {
  total_ += bytes.size();
  kept_ += bytes.substr(0, std::min(bytes.size(), limit_ - kept_.size()));
}

}  // namespace igloo::session
