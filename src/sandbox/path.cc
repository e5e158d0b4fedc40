#include "sandbox/path.h"

namespace igloo::sandbox {

Result<void> CheckTarget(std::string_view path) {
  const auto refuse = [&](const char* why) {
    return Fail(Errc::kInvalidArgument, "path '" + std::string(path) + "' in the sandbox " + why,
                "write a plain absolute path such as /project");
  };
  if (path.empty() || path[0] != '/') return refuse("is not absolute");
  if (path.find('\0') != std::string_view::npos) return refuse("holds a NUL byte");
  if (path.size() > 4000) return refuse("is too long");
  // SECURITY: '..' in a target would let a mount land outside the place the user reviewed.
  std::string_view rest = path;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view component = rest.substr(0, rest.find('/'));
    if (component.empty()) return refuse("has an empty part");
    if (component == "." || component == "..") return refuse("has a '.' or '..' part");
    rest.remove_prefix(component.size());
  }
  return {};
}

std::vector<std::string> Ancestors(std::string_view path) {
  std::vector<std::string> result;
  for (std::size_t at = path.find('/', 1); at != std::string_view::npos;
       at = path.find('/', at + 1)) {
    result.emplace_back(path.substr(0, at));
  }
  return result;
}

bool IsWithin(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

}  // namespace igloo::sandbox
