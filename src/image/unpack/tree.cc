#include "image/unpack/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "base/text.h"
#include "image/unpack/beneath.h"

namespace igloo::image::unpack {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

std::string Shown(std::string_view path) { return "'" + Printable(Quoted(path)) + "'"; }

std::unexpected<Error> FailAt(int saved_errno, const char* what, std::string_view path) {
  if (saved_errno == ELOOP || saved_errno == ENOTDIR) {
    const char* above = saved_errno == ELOOP ? " below a link" : " below a file";
    return std::unexpected(
        Error{Errc::kInvalidArgument, "a layer has " + Shown(path) + above, "", saved_errno});
  }
  return FailSys(saved_errno, std::string("cannot ") + what + " " + Shown(path));
}

/// What went wrong with the directory of an entry: of one that is none, the entry is told.
std::unexpected<Error> FailFor(const std::string& entry, Error error) {
  if (error.sys_errno == ELOOP || error.sys_errno == ENOTDIR) {
    return FailAt(error.sys_errno, "open", entry);
  }
  return std::unexpected(std::move(error));
}

Result<std::vector<std::string>> NamesIn(int directory) {
  UniqueFd again(::openat(directory, ".", kDirectory));
  if (!again) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot list a directory");
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(again.get()), ::closedir);
  if (!stream) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot list a directory");
  }
  (void)again.Release();
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

}  // namespace

Result<std::string> CleanPath(std::string_view path, const Limits& limits) {
  if (path.size() > limits.path) {
    return Fail(Errc::kInvalidArgument, "a layer has a name of " + std::to_string(path.size()) +
                                            " bytes, which is too long");
  }
  std::string clean;
  std::size_t depth = 0;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      return Fail(Errc::kInvalidArgument, "a layer has a name with '..' in it");
    }
    if (part.size() > 255 || ++depth > limits.depth) {
      return Fail(Errc::kInvalidArgument, "a layer has a name that is too long or too deep");
    }
    if (!clean.empty()) clean += '/';
    clean += part;
  }
  return clean;
}

Result<UniqueFd> Tree::Open(const std::string& directory, Missing missing) {
  UniqueFd fd(OpenBeneath(root_, directory, kDirectory));
  if (fd) return fd;
  const int saved_errno = errno;
  if (saved_errno == ENOENT && missing == Missing::kMake) return Make(directory);
  return FailAt(saved_errno, "open", directory);
}

/// Every part of it that is not there.
Result<UniqueFd> Tree::Make(const std::string& directory) {
  UniqueFd at;
  for (std::size_t end = 0; end != std::string::npos;) {
    end = directory.find('/', end + 1);
    const std::string part = directory.substr(0, end);
    const std::size_t slash = part.rfind('/');
    const std::string name = slash == std::string::npos ? part : part.substr(slash + 1);
    const int parent = at ? at.get() : root_;
    if (::mkdirat(parent, name.c_str(), 0755) == 0) {
      IGLOO_TRY(Touch(parent, name));
    } else if (errno != EEXIST) {
      const int saved_errno = errno;
      return FailAt(saved_errno, "make", part);
    }
    UniqueFd next(OpenBeneath(parent, name, kDirectory));
    if (!next) {
      const int saved_errno = errno;
      return FailAt(saved_errno, "open", part);
    }
    at = std::move(next);
  }
  return at;
}

Result<Tree::Place> Tree::PlaceOf(const std::string& path, Missing missing) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "" : path.substr(0, slash);
  if (parent != parent_path_) {
    Forget();
    auto opened = Open(parent, missing);
    if (!opened) return FailFor(path, std::move(opened).error());
    parent_ = *std::move(opened);
    if (missing == Missing::kMake) IGLOO_TRY(TouchAll(parent));
    parent_path_ = parent;
  }
  return Place{parent_.get(), slash == std::string::npos ? path : path.substr(slash + 1)};
}

Result<void> Tree::Touch(int directory, const std::string& name) {
  struct stat info{};
  if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    const int saved_errno = errno;
    return FailAt(saved_errno, "look at", name);
  }
  touched_.insert(info.st_ino);
  return {};
}

/// A directory and all above it: what this layer puts there must outlive their whiteouts.
Result<void> Tree::TouchAll(std::string directory) {
  while (!directory.empty()) {
    // No part of it is a link: it has just been opened without following one.
    IGLOO_TRY(Touch(root_, directory));
    const std::size_t slash = directory.rfind('/');
    directory.resize(slash == std::string::npos ? 0 : slash);
  }
  return {};
}

Result<void> Tree::RemoveAll(int directory, const std::string& name, std::size_t depth) {
  struct stat info{};
  if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    const int saved_errno = errno;
    return FailAt(saved_errno, "look at", name);
  }
  if (depth > limits_.depth) return Fail(Errc::kInternal, "a tree is deeper than it can be");
  if (S_ISDIR(info.st_mode)) {
    Forget();  // it may be the one that is kept open
    const UniqueFd inner(OpenBeneath(directory, name, kDirectory));
    if (!inner) {
      const int saved_errno = errno;
      return FailAt(saved_errno, "open", name);
    }
    IGLOO_ASSIGN(const auto names, NamesIn(inner.get()));
    for (const std::string& each : names) IGLOO_TRY(RemoveAll(inner.get(), each, depth + 1));
  }
  // Another name of the same file keeps its number in use.
  if (S_ISDIR(info.st_mode) || info.st_nlink == 1) touched_.erase(info.st_ino);
  if (::unlinkat(directory, name.c_str(), S_ISDIR(info.st_mode) ? AT_REMOVEDIR : 0) != 0) {
    const int saved_errno = errno;
    return FailAt(saved_errno, "remove", name);
  }
  return {};
}

Result<void> Tree::Clear(const Place& place, const std::string& path) {
  if (path.empty()) return Fail(Errc::kInvalidArgument, "a layer replaces the root by a file");
  struct stat info{};
  if (::fstatat(place.directory, place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
  return RemoveAll(place.directory, place.name, 0);
}

Result<void> Tree::Directory(const std::string& path) {
  if (path.empty()) return {};
  IGLOO_ASSIGN(const Place place, PlaceOf(path, Missing::kMake));
  struct stat info{};
  const bool there =
      ::fstatat(place.directory, place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && !S_ISDIR(info.st_mode)) IGLOO_TRY(Clear(place, path));
  if (!(there && S_ISDIR(info.st_mode)) &&
      ::mkdirat(place.directory, place.name.c_str(), 0755) != 0) {
    const int saved_errno = errno;
    return FailAt(saved_errno, "make", path);
  }
  return Touch(place.directory, place.name);
}

Result<UniqueFd> Tree::File(const std::string& path) {
  IGLOO_ASSIGN(const Place place, PlaceOf(path, Missing::kMake));
  IGLOO_TRY(Clear(place, path));
  UniqueFd file(::openat(place.directory, place.name.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) {
    const int saved_errno = errno;
    return FailAt(saved_errno, "make", path);
  }
  IGLOO_TRY(Touch(place.directory, place.name));
  return file;
}

Result<void> Tree::Finish(int file, std::uint32_t mode, std::int64_t time) {
  // SECURITY: nothing of the archive's mode but whether it is a program: no set-id bits, and
  // whoever the sandbox runs as can read it.
  const mode_t wanted = (mode & 0111) != 0 ? 0755 : 0644;
  // Interpreters compare it with what they compiled.
  const timespec times[2] = {{0, UTIME_OMIT}, {std::max<std::int64_t>(time, 0), 0}};
  if (::fchmod(file, wanted) == 0 && ::futimens(file, times) == 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot finish a file");
}

Result<void> Tree::Symlink(const std::string& path, const std::string& target) {
  if (target.empty()) return Fail(Errc::kInvalidArgument, "a layer has a link without a target");
  IGLOO_ASSIGN(const Place place, PlaceOf(path, Missing::kMake));
  IGLOO_TRY(Clear(place, path));
  if (::symlinkat(target.c_str(), place.directory, place.name.c_str()) != 0) {
    const int saved_errno = errno;
    return FailAt(saved_errno, "make", path);
  }
  return Touch(place.directory, place.name);
}

Result<void> Tree::HardLink(const std::string& path, const std::string& existing) {
  if (path == existing) return Fail(Errc::kInvalidArgument, "a layer has a link to itself");
  const std::size_t slash = existing.rfind('/');
  const std::string holder = slash == std::string::npos ? "" : existing.substr(0, slash);
  const std::string name = slash == std::string::npos ? existing : existing.substr(slash + 1);
  const auto from = Open(holder, Missing::kFail);
  if (!from) return FailFor(existing, from.error());
  struct stat info{};
  const bool fine = ::fstatat(from->get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                    (S_ISREG(info.st_mode) || S_ISLNK(info.st_mode));
  if (!fine) {
    return Fail(Errc::kInvalidArgument,
                "a layer has a hard link to " + Shown(existing) + ", which is no file in it");
  }
  IGLOO_ASSIGN(const Place place, PlaceOf(path, Missing::kMake));
  IGLOO_TRY(Clear(place, path));
  if (::linkat(from->get(), name.c_str(), place.directory, place.name.c_str(), 0) != 0) {
    const int saved_errno = errno;
    return FailAt(saved_errno, "make", path);
  }
  return Touch(place.directory, place.name);
}

Result<void> Tree::Prune(int directory, const std::string& name, std::size_t depth) {
  struct stat info{};
  if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (!touched_.contains(info.st_ino)) return RemoveAll(directory, name, depth);
  if (!S_ISDIR(info.st_mode)) return {};
  const UniqueFd inner(OpenBeneath(directory, name, kDirectory));
  if (!inner) {
    const int saved_errno = errno;
    return FailAt(saved_errno, "open", name);
  }
  return PruneBelow(inner.get(), depth + 1);
}

Result<void> Tree::PruneBelow(int directory, std::size_t depth) {
  IGLOO_ASSIGN(const auto names, NamesIn(directory));
  for (const std::string& each : names) IGLOO_TRY(Prune(directory, each, depth));
  return {};
}

Result<void> Tree::Whiteout(const std::string& path) {
  auto place = PlaceOf(path, Missing::kFail);
  if (!place && place.error().sys_errno == ENOENT) return {};
  if (!place) return std::unexpected(std::move(place).error());
  return Prune(place->directory, place->name, 0);
}

Result<void> Tree::Opaque(const std::string& directory) {
  auto inner = Open(directory, Missing::kFail);
  if (!inner && inner.error().sys_errno == ENOENT) return {};
  if (!inner) return FailFor(directory + "/.wh..wh..opq", std::move(inner).error());
  return PruneBelow(inner->get(), 0);
}

}  // namespace igloo::image::unpack
