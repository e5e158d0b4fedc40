#include "agent/obeyed/look.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "sandbox/path.h"
#include "service/changes/protected_names.h"

namespace igloo::agent {
namespace {

constexpr std::size_t kMostContent = 1U << 20, kMostNames = 5'000'000, kDeepest = 1024;
constexpr std::string_view kHooksReason = "your git runs the hooks in it";

struct Name {
  std::string name = {};
  unsigned char type = DT_UNKNOWN;
};

/// A place whose whole content is obeyed, for one reason. Empty: not here.
using Reason = std::string_view;

class Look {
 public:
  Look(std::string root, const LedTo& led) : root_(std::move(root)), led_(led) {}

  Result<void> Run(ObeyedFiles& found) {
    found_ = &found;
    UniqueFd fd(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot look at '" + Printable(root_) + "'");
    }
    return Directory(std::move(fd), "", "", 0);
  }

 private:
  std::string Full(const std::string& path) const { return root_ + "/" + path; }

  /// NOLINTNEXTLINE(misc-no-recursion)
  Result<void> Directory(UniqueFd fd, const std::string& path, Reason within, std::size_t depth) {
    if (depth > kDeepest) return Fail(Errc::kExhausted, "a directory lies too deep");
    IGLOO_ASSIGN(const std::vector<Name> names, NamesIn(fd.get()));
    if (IsRepository(names)) OfRepository(fd.get(), path, names);
    for (const Name& each : names) {
      const std::string below = path.empty() ? each.name : path + "/" + each.name;
      const Reason reason = ReasonOf(below, each, within);
      if (each.name == ".git" && each.type != DT_DIR) {
        Note(fd.get(), each.name, below, ObeyedAs::kGitFile, {});
      } else if (each.type == DT_DIR) {
        UniqueFd next(
            ::openat(fd.get(), each.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        // What nobody may open, no program of the host's opens either.
        if (next) IGLOO_TRY(Directory(std::move(next), below, reason, depth + 1));
      } else if (std::ranges::find(led_.files, Full(below)) != led_.files.end()) {
        Note(fd.get(), each.name, below, ObeyedAs::kSettings, {});
      } else if (!reason.empty()) {
        Note(fd.get(), each.name, below, ObeyedAs::kNamed, reason);
      }
    }
    return {};
  }

  Result<std::vector<Name>> NamesIn(int fd) {
    std::vector<Name> names;
    UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    const std::unique_ptr<DIR, decltype(&::closedir)> stream(
        copy ? ::fdopendir(copy.get()) : nullptr, &::closedir);
    if (!stream) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot read a directory");
    }
    (void)copy.Release();
    for (;;) {
      const dirent* entry = ::readdir(stream.get());
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++names_ > kMostNames) return Fail(Errc::kExhausted, "more than 5 million names");
      Name each{std::string(name), entry->d_type};
      if (each.type == DT_UNKNOWN) {
        struct stat info{};
        if (::fstatat(fd, each.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
        each.type = static_cast<unsigned char>(IFTODT(info.st_mode));
      }
      names.push_back(std::move(each));
    }
    return names;
  }

  /// As git asks, and a little more often: what these names are is not looked at.
  static bool IsRepository(const std::vector<Name>& names) {
    bool head = false, objects = false, refs = false, common = false;
    for (const Name& each : names) {
      head = head || each.name == "HEAD";
      objects = objects || each.name == "objects";
      refs = refs || each.name == "refs";
      common = common || each.name == "commondir";
    }
    return head && ((objects && refs) || common);
  }

  void OfRepository(int fd, const std::string& path, const std::vector<Name>& names) {
    const std::string top = path.empty() ? "" : path + "/";
    for (const Name& each : names) {
      const std::string below = top + each.name;
      if (each.name == "config" || each.name == "config.worktree") {
        Note(fd, each.name, below, ObeyedAs::kSettings, {});
      } else if (each.name == "commondir") {
        Note(fd, each.name, below, ObeyedAs::kDirection, {});
      } else if (each.name == "hooks" && each.type != DT_DIR) {
        Note(fd, each.name, below, ObeyedAs::kHook, {});
      } else if (each.name == "hooks") {
        const UniqueFd hooks(
            ::openat(fd, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        const auto programs = hooks ? NamesIn(hooks.get()) : std::vector<Name>();
        if (!programs) continue;
        for (const Name& program : *programs) {
          if (program.type == DT_DIR || program.name.ends_with(".sample")) continue;
          Note(hooks.get(), program.name, below + "/" + program.name, ObeyedAs::kHook, {});
        }
      }
    }
  }

  Reason ReasonOf(const std::string& path, const Name& name, Reason within) const {
    // Work trees that an agent makes there are projects of their own.
    if (path.ends_with(".claude/worktrees")) return {};
    if (Full(path) == led_.hooks) return kHooksReason;
    if (!within.empty()) return within;
    if (AsciiLower(name.name) == ".git") return {};
    return service::changes::ReasonOfLastPart(path);
  }

  void Note(int directory, const std::string& name, const std::string& path, ObeyedAs as,
            Reason reason) {
    struct stat info{};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    Obeyed obeyed{.as = as, .mode = info.st_mode & 0777, .reason = std::string(reason)};
    if (S_ISLNK(info.st_mode)) {
      std::array<char, PATH_MAX> text{};
      const ssize_t size = ::readlinkat(directory, name.c_str(), text.data(), text.size());
      obeyed.link = true;
      if (size >= 0) obeyed.content = std::string(text.data(), static_cast<std::size_t>(size));
    } else if (S_ISREG(info.st_mode)) {
      const UniqueFd file(
          ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
      if (file) {
        auto bytes = ReadAll(file.get(), kMostContent);
        if (bytes) obeyed.content = as == ObeyedAs::kNamed ? Sha256Hex(*bytes) : *std::move(bytes);
      }
      if (!obeyed.content) {
        obeyed.stamp =
            fmt::format("{} {} {}.{} {}.{}", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                        info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
      }
    } else {
      return;
    }
    found_->insert_or_assign(Full(path), std::move(obeyed));
  }

  const std::string root_;
  const LedTo& led_;
  ObeyedFiles* found_ = nullptr;
  std::size_t names_ = 0;
};

}  // namespace

Result<ObeyedFiles> LookForObeyed(const std::string& project, const WorkTree& tree,
                                  const LedTo& led) {
  ObeyedFiles found;
  IGLOO_TRY(Look(project, led).Run(found));
  if (tree.elsewhere && !sandbox::IsWithin(tree.common, project)) {
    IGLOO_TRY(Look(tree.common, led).Run(found));
  }
  return found;
}

}  // namespace igloo::agent
