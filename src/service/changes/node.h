#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace igloo::service::changes {

enum class Type : std::uint8_t { kFile = 1, kLink, kDirectory, kOther };

/// What a name stands for, as far as one call of stat tells.
struct Node {
  Type type = Type::kOther;
  std::uint32_t mode = 0;  ///< permissions alone
  std::uint64_t size = 0;
  std::int64_t modified = 0, changed = 0;  ///< mtime and ctime in nanoseconds
  std::uint64_t inode = 0;
  bool operator==(const Node&) const = default;
};

inline Node NodeOf(const struct stat& info) {
  const auto nanoseconds = [](const timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  const Type type = S_ISREG(info.st_mode)   ? Type::kFile
                    : S_ISLNK(info.st_mode) ? Type::kLink
                    : S_ISDIR(info.st_mode) ? Type::kDirectory
                                            : Type::kOther;
  return {.type = type,
          .mode = info.st_mode & 07777,
          .size = static_cast<std::uint64_t>(info.st_size),
          .modified = nanoseconds(info.st_mtim),
          .changed = nanoseconds(info.st_ctim),
          .inode = info.st_ino};
}

/// Whether nobody has touched it: of a directory only type and mode count, because what is in it
/// counts for itself.
inline bool Untouched(const Node& before, const Node& now) {
  if (before.type != now.type || before.mode != now.mode) return false;
  return before.type == Type::kDirectory || before == now;
}

/// Whether `now` is `before` under another name: a rename alone changes the ctime.
inline bool SameFile(const Node& before, Node now) {
  now.changed = before.changed;
  return before == now;
}

inline std::string ParentOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash));
}
inline std::string_view NameIn(std::string_view path) { return path.substr(path.rfind('/') + 1); }
/// Whether `path` is `place` or lies in it. An empty place holds everything.
inline bool LiesIn(std::string_view path, std::string_view place) {
  return place.empty() ||
         (path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/'));
}

}  // namespace igloo::service::changes
