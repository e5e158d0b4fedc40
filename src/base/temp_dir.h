#pragma once

#include <string>

#include "base/error.h"

namespace igloo {

/// A private directory (0700) with an unpredictable name, removed with all it holds.
class TempDir {
 public:
  /// Below `parent`, or below $XDG_RUNTIME_DIR's stand-in that the caller chose.
  static Result<TempDir> Make(const std::string& parent);
  TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TempDir& operator=(TempDir&& other) noexcept;
  ~TempDir() { Remove(); }

  const std::string& path() const { return path_; }

 private:
  explicit TempDir(std::string path) : path_(std::move(path)) {}
  void Remove();
  std::string path_;
};

}  // namespace igloo
