#include "base/temp_dir.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace igloo {

Result<TempDir> TempDir::Make(const std::string& parent) {
  std::string path = parent + "/igloo-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make a directory in '" + parent + "'");
  }
  return TempDir(std::move(path));
}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  if (this != &other) {
    Remove();
    path_ = std::exchange(other.path_, {});
  }
  return *this;
}

void TempDir::Remove() {
  if (path_.empty()) return;
  std::error_code ignored;  // a destructor has nobody to tell
  std::filesystem::remove_all(path_, ignored);
  path_.clear();
}

}  // namespace igloo
