#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace igloo::backend::microvm {

/// Writes the archive that a kernel unpacks as its first root: cpio's format "newc". Everything in
/// it is root's.
class Archive {
 public:
  void AddDirectory(std::string_view name) { Add(name, 0040755, {}); }
  void AddFile(std::string_view name, std::string_view content) { Add(name, 0100755, content); }
  void AddCharacterDevice(std::string_view name, unsigned major, unsigned minor) {
    Add(name, 0020600, {}, major, minor);
  }
  std::string Finish() &&;

 private:
  void Add(std::string_view name, std::uint32_t mode, std::string_view content, unsigned major = 0,
           unsigned minor = 0);
  std::string bytes_ = {};
  std::uint32_t count_ = 0;
};

}  // namespace igloo::backend::microvm
