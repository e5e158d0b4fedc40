#include "session/files/set_id_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace igloo::session {
namespace {

constexpr mode_t kBits = S_ISUID | S_ISGID;

/// SECURITY: hostile code chose the names: no link is followed. Mounts are entered, because the
/// sandbox shows them, too.
UniqueFd OpenStraight(int directory, const char* name, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, directory, name, &how, sizeof how)));
}

bool Before(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

class Walk {
 public:
  Walk(const timespec& began, const SetIdLimits& limits) : began_(began), limits_(limits) {}

  void Tree(int root, const std::string& path) {
    struct stat info{};
    if (::fstat(root, &info) == 0 && S_ISREG(info.st_mode)) return Strip(root, path);
    Directory(root, path, 0);
  }

  std::vector<std::string> Take() {
    if (more_ > 0) said_.push_back(fmt::format("and from {} more files", more_));
    if (!complete_) {
      said_.emplace_back(
          "not all files of the project were looked at after the run: there are too many, or a "
          "directory cannot be opened; 'find -perm /6000' shows whether any is set-uid");
    }
    return std::move(said_);
  }

 private:
  void Directory(int directory, const std::string& path, std::size_t depth) {
    UniqueFd own = OpenStraight(directory, ".", O_RDONLY | O_DIRECTORY);
    DIR* stream = own && depth < limits_.depth ? ::fdopendir(own.get()) : nullptr;
    if (stream == nullptr) {
      complete_ = false;
      return;
    }
    (void)own.Release();
    const std::unique_ptr<DIR, int (*)(DIR*)> closing(stream, &::closedir);
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++seen_ > limits_.entries) {
        complete_ = false;
        return;
      }
      Entry(::dirfd(stream), entry->d_name, path + "/" + entry->d_name, depth);
    }
  }

  void Entry(int directory, const char* name, const std::string& path, std::size_t depth) {
    struct stat info{};
    if (::fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISDIR(info.st_mode)) {
      const UniqueFd below = OpenStraight(directory, name, O_PATH | O_DIRECTORY);
      if (below) return Directory(below.get(), path, depth + 1);
      complete_ = false;
    }
    if (!IsOurs(info)) return;
    const UniqueFd file = OpenStraight(directory, name, O_PATH);
    if (file) Strip(file.get(), path);
  }

  bool IsOurs(const struct stat& info) const {
    return S_ISREG(info.st_mode) && (info.st_mode & kBits) != 0 && !Before(info.st_ctim, began_);
  }

  /// By its descriptor, which needs no right to read the file.
  void Strip(int file, const std::string& path) {
    struct stat info{};
    if (::fstat(file, &info) != 0 || !IsOurs(info)) return;
    const std::string own = "/proc/self/fd/" + std::to_string(file);
    const bool taken = ::chmod(own.c_str(), info.st_mode & 01777) == 0;
    const int saved_errno = errno;
    if (said_.size() >= limits_.named) {
      ++more_;
      return;
    }
    const std::string shown = Printable(path);
    said_.push_back(
        taken ? fmt::format("'{}' was set-uid or set-gid and changed during the run: it is no "
                            "longer; look at it before you set the bit again",
                            shown)
              : fmt::format("'{}' is set-uid or set-gid, changed during the run and could not be "
                            "made an ordinary file: {}; remove it",
                            shown, std::strerror(saved_errno)));
  }

  const timespec began_;
  const SetIdLimits limits_;
  std::size_t seen_ = 0, more_ = 0;
  bool complete_ = true;
  std::vector<std::string> said_ = {};
};

}  // namespace

SetIdCheck::SetIdCheck(const sandbox::Plan& plan) {
  for (const auto* steps : {&plan.environment, &plan.fresh, &plan.run}) {
    for (const sandbox::Step& step : *steps) {
      const auto* bind = std::get_if<sandbox::step::Bind>(&step);
      if (bind == nullptr || bind->device || bind->access != sandbox::Access::kReadWrite) continue;
      // Of what keeps an overlay's changes, one half is the kernel's own and closed to everybody.
      const bool layer = bind->target == sandbox::kChangesPlace;
      const std::string source = bind->source + (layer ? "/upper" : "");
      UniqueFd root(::open(source.c_str(), O_PATH | O_CLOEXEC));
      const int saved_errno = errno;
      if (root) {
        trees_.push_back({source, std::move(root)});
      } else {
        missed_.push_back(fmt::format(
            "'{}' was not looked at after the run: {}; 'find -perm /6000' shows whether any file "
            "in it is set-uid",
            Printable(source), std::strerror(saved_errno)));
      }
    }
  }
  // The clock that file systems take their times from; a finer one would be ahead of it.
  if (needed()) ::clock_gettime(CLOCK_REALTIME_COARSE, &began_);
}

std::vector<std::string> SetIdCheck::Finish(const SetIdLimits& limits) {
  Walk walk(began_, limits);
  for (const Tree& tree : trees_) walk.Tree(tree.root.get(), tree.path);
  trees_.clear();
  std::vector<std::string> said = walk.Take();
  std::ranges::move(std::exchange(missed_, {}), std::back_inserter(said));
  return said;
}

}  // namespace igloo::session
