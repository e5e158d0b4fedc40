#include "service/given_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace igloo::service {

Result<void> CheckGivenPath(const std::string& path) {
  bool fine = !path.empty() && path.size() <= 1024 && path[0] != '/' && !path.ends_with('/') &&
              path.find('\0') == std::string::npos;
  for (std::size_t at = 0; fine && at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = std::string_view(path).substr(at, end - at);
    fine = !part.empty() && part != "." && part != ".." && part.size() <= 255;
    at = end + 1;
  }
  if (fine) return {};
  return Fail(Errc::kInvalidArgument,
              fmt::format("'{}' cannot be a file's path", Printable(Quoted(path))),
              "write it relative to the working directory, without '..': data/input.csv");
}

}  // namespace igloo::service
