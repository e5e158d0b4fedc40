#include "base/error_text.h"

namespace igloo {

std::string InOneLine(const Error& error) {
  return error.hint.empty() ? error.what : error.what + "; " + error.hint;
}

}  // namespace igloo
