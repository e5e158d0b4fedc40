#include "environment/hidden.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/glob.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "environment/secret_files.h"
#include "environment/secret_look.h"

namespace igloo::environment {
namespace {

using sandbox::Hidden;
using Inode = std::pair<dev_t, ino_t>;

/// A mount point has to be named in one system call, with what stands before it inside.
constexpr std::size_t kLongestPath = PATH_MAX / 2;

std::vector<std::string> PatternsOf(std::span<const SecretRow> rows) {
  std::vector<std::string> patterns;
  patterns.reserve(rows.size());
  for (const SecretRow& row : rows) patterns.emplace_back(row.pattern);
  return patterns;
}

const Globs& UsualGlobs() {
  static const Globs globs(PatternsOf(SecretRows()), Letters::kFold);
  return globs;
}
const Globs& HarmlessGlobs() {
  static const Globs globs(PatternsOf(HarmlessRows()), Letters::kFold);
  return globs;
}

sandbox::PathFact FactOf(const struct stat& info) {
  return {.device = info.st_dev, .inode = info.st_ino, .type = info.st_mode & S_IFMT};
}

/// What stands at a name of a directory.
struct Place {
  int directory;
  const char* name;
  std::string_view path;  ///< of the name, below the project
};

class Scan {
 public:
  Scan(const std::string& directory, const HideRules& rules, const HideLimits& limits)
      : directory_(directory),
        rules_(rules),
        limits_(limits),
        hide_(rules.hide, Letters::kFold),
        show_(rules.show, Letters::kExact) {}

  Result<std::vector<Hidden>> Run() {
    root_ = OpenQuietly(AT_FDCWD, directory_.c_str(), O_DIRECTORY);
    if (!root_) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot look for secrets in '" + directory_ + "'",
                     "igloo shows a project only when it can read its directory");
    }
    std::string path;
    IGLOO_TRY(Directory(root_.get(), path, 0, Pass::kNames));
    IGLOO_TRY(LookInside());
    if (HasOtherNames()) {
      names_ = 0;
      if (::lseek(root_.get(), 0, SEEK_SET) != 0) return Failed("read", path);
      IGLOO_TRY(Directory(root_.get(), path, 0, Pass::kLinks));
    }
    std::vector<Hidden> all;
    for (const auto& [at, hidden] : found_) {
      if (!LiesInHidden(at)) all.push_back(hidden);
    }
    return all;
  }

 private:
  enum class Pass {
    kNames,   ///< what the rules say
    kInside,  ///< a hidden directory: only which of its files have other names
    kLinks,   ///< other names of what is hidden
  };

  /// A file that is hidden under some of its names.
  struct Linked {
    std::string first = {};
    nlink_t names = 0, found = 0;
  };

  bool HasOtherNames() const {
    return std::ranges::any_of(
        linked_, [](const auto& each) { return each.second.found < each.second.names; });
  }

  bool LiesInHidden(std::string_view path) const {
    for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
         slash = path.find('/', slash + 1)) {
      if (found_.contains(path.substr(0, slash))) return true;
    }
    return false;
  }

  /// `path` ends without a slash, and is as before when this returns.
  Result<void> Directory(int fd, std::string& path, std::size_t depth, Pass pass) {
    std::vector<std::string> below;
    for (;;) {
      const long size = ::syscall(SYS_getdents64, fd, buffer_.data(), buffer_.size());
      if (size < 0 && errno == EINTR) continue;
      if (size == 0 || (size < 0 && errno == ENOENT)) break;
      if (size < 0) return Failed("read", path);
      for (long at = 0; at < size;) {
        const auto* entry = reinterpret_cast<const dirent64*>(buffer_.data() + at);
        at += entry->d_reclen;
        IGLOO_TRY(Entry(fd, *entry, path, pass, below));
      }
    }
    for (const std::string& name : below) IGLOO_TRY(Below(fd, name, path, depth + 1, pass));
    return {};
  }

  Result<void> Entry(int fd, const dirent64& entry, std::string& path, Pass pass,
                     std::vector<std::string>& below) {
    const char* name = entry.d_name;
    if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) return {};
    if (++names_ > limits_.names) {
      return Fail(Errc::kExhausted,
                  fmt::format("'{}' has more than {} names: too many to look for secrets in",
                              directory_, limits_.names),
                  "show a smaller directory, or all of this one as it is: --show-hidden '**'");
    }
    // Nearly all names end here.
    const bool other = entry.d_type != DT_DIR && entry.d_type != DT_UNKNOWN;
    const bool could = UsualGlobs().Could(name, false) || hide_.Could(name, false);
    if (pass == Pass::kNames && other && !could) return {};
    const std::size_t before = path.size();
    if (!path.empty()) path += '/';
    path += name;
    Result<void> done = Name({fd, name, path}, entry.d_type, pass, below);
    path.resize(before);
    return done;
  }

  Result<void> Name(const Place& place, unsigned char type, Pass pass,
                    std::vector<std::string>& below) {
    if (type == DT_UNKNOWN) {
      struct stat info{};
      if (::fstatat(place.directory, place.name, &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
      type = static_cast<unsigned char>(IFTODT(info.st_mode));
    }
    const bool directory = type == DT_DIR;
    if (pass == Pass::kInside) {
      if (directory) {
        below.emplace_back(place.name);
      } else if (struct stat info{};
                 ::fstatat(place.directory, place.name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
        NoteLinks(info, place.path);
      }
      return {};
    }
    const Globs::Name name{.path = place.path, .directory = directory};
    if (show_.Find(name)) return {};
    if (pass == Pass::kLinks) {
      if (directory && !found_.contains(place.path)) below.emplace_back(place.name);
      return directory ? Result<void>() : OtherName(place);
    }
    if (const auto own = hide_.Find(name)) {
      const std::string why = fmt::format("hide = \"{}\"", rules_.hide[*own]);
      if (type == DT_LNK) return Target(place, why, nullptr);
      return directory ? WholeDirectory(place, why) : Add(place, why);
    }
    if (directory) {
      for (auto row = UsualGlobs().Find(name); row; row = UsualGlobs().Find(name, *row + 1)) {
        const SecretRow& rule = SecretRows()[*row];
        if (rule.pattern.ends_with('/')) return WholeDirectory(place, std::string(rule.reason));
      }
      below.emplace_back(place.name);
      return {};
    }
    return Usual(place, name, type == DT_LNK);
  }

  /// What igloo's own list says of a name that is no directory's.
  Result<void> Usual(const Place& place, const Globs::Name& name, bool link) {
    const Globs& globs = UsualGlobs();
    auto row = globs.Find(name);
    if (!row || HarmlessGlobs().Find(name)) return {};
    for (; row; row = globs.Find(name, *row + 1)) {
      const SecretRow& rule = SecretRows()[*row];
      if (link) {
        IGLOO_TRY(Target(place, std::string(rule.reason), &rule));
      } else {
        IGLOO_TRY(Judge(place, rule));
      }
      if (found_.contains(place.path)) return {};
    }
    return {};
  }

  Result<void> Judge(const Place& place, const SecretRow& rule) {
    auto secret = LookAt(place.directory, place.name, rule, limits_.content);
    if (!secret) return {};
    return Add(place, std::move(secret->why), std::move(secret->instead));
  }

  /// A link with the name of a secret: the file that it leads to, if that is in the project.
  Result<void> Target(const Place& link, const std::string& why, const SecretRow* rule) {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlinkat(link.directory, link.name, text.data(), text.size());
    if (size <= 0) return {};
    std::string to(text.data(), static_cast<std::size_t>(size));
    if (to.starts_with('/')) {
      if (!to.starts_with(directory_ + "/")) return {};
      to.erase(0, directory_.size() + 1);
    } else {
      to = fmt::format("{}/{}", link.path.substr(0, link.path.rfind('/') + 1), to);
      while (to.starts_with('/')) to.erase(0, 1);
    }
    const UniqueFd target = OpenInside(to, O_PATH, 0);
    if (!target) return {};
    const std::string path = PathOf(target.get());
    if (path.empty() || found_.contains(path)) return {};
    struct stat info{};
    if (::fstat(target.get(), &info) != 0) return {};
    const Globs::Name name{.path = path, .directory = S_ISDIR(info.st_mode)};
    if (show_.Find(name)) return {};
    // SECURITY: by its directory, opened without a link on the way: what stands in a copy that code
    // reads must be of the project, whoever replaces a directory by a link meanwhile.
    const std::size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
    const UniqueFd directory = OpenInside(parent, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
    if (!directory) return {};
    const Place place{directory.get(), path.c_str() + (slash == std::string::npos ? 0 : slash + 1),
                      path};
    const std::string led = fmt::format("{}, which '{}' leads to", why, Printable(link.path));
    if (name.directory) return rule == nullptr ? WholeDirectory(place, led) : Result<void>();
    if (rule == nullptr) return Add(place, led);
    auto secret = LookAt(place.directory, place.name, *rule, limits_.content);
    if (!secret) return {};
    return Add(place, led, std::move(secret->instead));
  }

  /// Below the project; empty: not there, or the project itself.
  std::string PathOf(int fd) const {
    const auto path_of = [](int each) {
      std::array<char, PATH_MAX> text{};
      const std::string link = "/proc/self/fd/" + std::to_string(each);
      const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
      return std::string(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    };
    const std::string top = path_of(root_.get()) + "/";
    const std::string path = path_of(fd);
    return path.starts_with(top) ? path.substr(top.size()) : std::string();
  }

  Result<void> Add(const Place& place, std::string why, std::optional<std::string> instead = {}) {
    struct stat info{};
    if (::fstatat(place.directory, place.name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return {};
      return errno == EACCES ? HideParent(place) : Failed("look at", place.path);
    }
    if (S_ISLNK(info.st_mode)) return {};
    if (found_.size() >= limits_.hidden) {
      return Fail(Errc::kExhausted,
                  fmt::format("'{}' has more than {} secrets to hide, such as '{}' ({})",
                              directory_, limits_.hidden, Printable(place.path), why),
                  "hide the directory that most of them lie in (hide = [\"DIRECTORY/\"]), or show "
                  "them: --show-hidden 'DIRECTORY/**'");
    }
    if (!found_.contains(place.path)) NoteLinks(info, place.path);
    found_.insert_or_assign(std::string(place.path), Hidden{.path = std::string(place.path),
                                                            .fact = FactOf(info),
                                                            .why = std::move(why),
                                                            .instead = std::move(instead)});
    return {};
  }

  /// A directory whose names can be read and nothing else. Code that owns it could change that.
  Result<void> HideParent(const Place& place) {
    const std::size_t slash = place.path.rfind('/');
    struct stat info{};
    if (slash == std::string_view::npos || ::fstat(place.directory, &info) != 0) {
      errno = EACCES;
      return Failed("look at", place.path);
    }
    const std::string path(place.path.substr(0, slash));
    found_.insert_or_assign(path, Hidden{.path = path, .fact = FactOf(info), .why = kCannotLook});
    return {};
  }

  Result<void> WholeDirectory(const Place& place, std::string why) {
    inside_.emplace_back(place.path);
    return Add(place, std::move(why));
  }

  /// Files in hidden directories may have other names outside of them.
  Result<void> LookInside() {
    for (std::string path : inside_) {
      const UniqueFd own = OpenInside(path, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
      if (own) IGLOO_TRY(Directory(own.get(), path, 0, Pass::kInside));
    }
    return {};
  }

  /// SECURITY: a link could lead anywhere on the host; nothing outside is even looked at.
  UniqueFd OpenInside(const std::string& path, std::uint64_t flags, std::uint64_t resolve) const {
    open_how how{};
    how.flags = flags | O_CLOEXEC;
    how.resolve = resolve | RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    return UniqueFd(
        static_cast<int>(::syscall(SYS_openat2, root_.get(), path.c_str(), &how, sizeof how)));
  }

  void NoteLinks(const struct stat& info, std::string_view path) {
    if (!S_ISREG(info.st_mode) || info.st_nlink < 2) return;
    Linked& linked = linked_[Inode(info.st_dev, info.st_ino)];
    if (linked.found == 0) linked.first = path;
    linked.names = info.st_nlink;
    ++linked.found;
  }

  Result<void> OtherName(const Place& place) {
    struct stat info{};
    if (::fstatat(place.directory, place.name, &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
    if (!S_ISREG(info.st_mode) || info.st_nlink < 2) return {};
    const auto first = linked_.find(Inode(info.st_dev, info.st_ino));
    if (first == linked_.end() || found_.contains(place.path)) return {};
    const std::string original = first->second.first;
    const auto known = found_.find(original);
    return Add(place, fmt::format("the same file as '{}'", Printable(original)),
               known == found_.end() ? std::nullopt : known->second.instead);
  }

  Result<void> Below(int parent, const std::string& name, std::string& path, std::size_t depth,
                     Pass pass) {
    const std::size_t before = path.size();
    if (!path.empty()) path += '/';
    path += name;
    Result<void> done = Enter({parent, name.c_str(), path}, path, depth, pass);
    path.resize(before);
    return done;
  }

  Result<void> Enter(const Place& place, std::string& path, std::size_t depth, Pass pass) {
    const bool reached = depth <= limits_.depth && path.size() <= kLongestPath;
    const UniqueFd own =
        reached ? OpenQuietly(place.directory, place.name, O_DIRECTORY) : UniqueFd();
    if (own) return Directory(own.get(), path, depth, pass);
    // Somebody took it away.
    if (reached && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return {};
    if (reached && errno != EACCES) return Failed("open", path);
    // Nobody knows what is in it. Code that owns it could give itself the right to read it.
    return pass == Pass::kInside ? Result<void>() : Add(place, kCannotLook);
  }

  std::unexpected<Error> Failed(std::string_view doing, std::string_view path) const {
    const int saved_errno = errno;
    return FailSys(saved_errno,
                   fmt::format("looking for secrets in '{}': cannot {} '{}'", directory_, doing,
                               Printable(path)),
                   "a project is shown only when all of it was looked at");
  }

  const std::string directory_;
  const HideRules& rules_;
  const HideLimits limits_;
  const Globs hide_, show_;
  UniqueFd root_ = {};
  std::vector<char> buffer_ = std::vector<char>(64U << 10);
  std::size_t names_ = 0;
  std::map<std::string, Hidden, std::less<>> found_ = {};  ///< by path
  std::map<Inode, Linked> linked_ = {};
  std::vector<std::string> inside_ = {};  ///< directories that are hidden as a whole
};

}  // namespace

HideRules InRepository(const HideRules& rules) {
  const auto moved = [](std::vector<std::string> globs) {
    for (std::string& glob : globs) {
      for (const std::string_view top : {"/.git/", ".git/"}) {
        if (glob.starts_with(top) && glob.size() > top.size()) glob.replace(0, top.size(), "/");
      }
    }
    return globs;
  };
  return {.hide = moved(rules.hide), .show = moved(rules.show)};
}

Result<std::vector<Hidden>> FindHidden(const std::string& directory, const HideRules& rules,
                                       const HideLimits& limits) {
  return Scan(directory, rules, limits).Run();
}

}  // namespace igloo::environment
