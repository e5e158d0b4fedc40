#include "agent/state/projects.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;

/// git's own files of one line hold a path.
constexpr std::size_t kMaxSmallFile = 8U << 10;
constexpr std::size_t kKeyDigits = 16;
constexpr std::size_t kMaxClaudeName = 200;
constexpr std::string_view kRootFile = "/project-root";

/// A small regular file; nullopt for anything else. Never waits: boxes can make pipes.
std::optional<std::string> ReadSmallFile(const std::string& path) {
  const UniqueFd fd(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  auto text = ReadAll(fd.get(), kMaxSmallFile);
  if (!text) return std::nullopt;
  return *std::move(text);
}

/// One of a single line, without the newline behind it.
std::optional<std::string> ReadLineFile(const std::string& path) {
  auto text = ReadSmallFile(path);
  if (!text) return std::nullopt;
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (text->empty() || text->find_first_of(std::string_view("\0\n\r", 3)) != std::string::npos) {
    return std::nullopt;
  }
  return text;
}

std::optional<fs::path> Canonical(const fs::path& path) {
  std::error_code failure;
  auto found = fs::canonical(path, failure);
  if (failure) return std::nullopt;
  return found;
}

/// What git asks of a directory before it takes it for a repository.
bool IsGitDirectory(const fs::path& path) {
  std::error_code failure;
  return fs::is_directory(path / "objects", failure) && fs::is_directory(path / "refs", failure) &&
         (fs::exists(path / "HEAD", failure) || fs::is_symlink(path / "HEAD", failure));
}

/// The common directory of the linked work tree to which `git_file` belongs.
///
/// SECURITY: an agent can write the `.git` of its project, and whoever names another repository
/// there would get that one's history next time. So the repository has to name the work tree, too.
std::optional<fs::path> CommonOfLinked(const fs::path& git_file, const fs::path& git_directory) {
  const auto back = ReadLineFile(git_directory / "gitdir");
  const auto common = ReadLineFile(git_directory / "commondir");
  if (!back || !common) return std::nullopt;
  const auto named = Canonical(git_directory / *back);
  const auto found = Canonical(git_directory / *common);
  if (!named || named != Canonical(git_file) || !found || !IsGitDirectory(*found)) {
    return std::nullopt;
  }
  // Where git puts what belongs to a linked work tree.
  if (git_directory.parent_path() != *found / "worktrees") return std::nullopt;
  return found;
}

/// The repository's root, if `directory` is the top of one of its work trees.
std::optional<fs::path> RootAt(const fs::path& directory) {
  const fs::path git = directory / ".git";
  struct stat info{};
  if (::lstat(git.c_str(), &info) != 0) return std::nullopt;
  // A link may lead to another project's repository, which says nothing about this one.
  if (S_ISDIR(info.st_mode)) return IsGitDirectory(git) ? std::optional(directory) : std::nullopt;
  constexpr std::string_view kPrefix = "gitdir: ";
  const auto line = ReadLineFile(git);
  if (!line || !line->starts_with(kPrefix)) return std::nullopt;
  const auto named = Canonical(directory / line->substr(kPrefix.size()));
  if (!named) return std::nullopt;
  const auto common = CommonOfLinked(git, *named);
  // A submodule, or a repository whose directory lies elsewhere: the work tree is its own root.
  if (!common) return IsGitDirectory(*named) ? std::optional(directory) : std::nullopt;
  return common->filename() == ".git" ? common->parent_path() : *common;
}

/// The bytes of UTF-8 as JavaScript counts and sees them: UTF-16 units. An invalid byte is U+FFFD.
std::u16string ToUtf16(std::string_view bytes) {
  const std::string text = ToUtf8(bytes);
  std::u16string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t character = size == 1 ? lead : lead & (0xFFU >> (size + 1));
    for (std::size_t k = 1; k < size; ++k) {
      character = (character << 6U) | (static_cast<unsigned char>(text[i + k]) & 0x3FU);
    }
    i += size;
    if (character < 0x10000) {
      out += static_cast<char16_t>(character);
    } else {
      out += static_cast<char16_t>(0xD800 + ((character - 0x10000) >> 10U));
      out += static_cast<char16_t>(0xDC00 + ((character - 0x10000) & 0x3FFU));
    }
  }
  return out;
}

std::string Base36(std::uint64_t number) {
  std::string out;
  do out += "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
  while ((number /= 36) != 0);
  std::ranges::reverse(out);
  return out;
}

bool IsKey(std::string_view name) {
  return name.size() == kKeyDigits && name.find_first_not_of("0123456789abcdef") == name.npos;
}

bool IsGone(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

}  // namespace

Result<ProjectRoot> FindProjectRoot(const std::string& directory) {
  std::error_code failure;
  const fs::path start = fs::canonical(directory, failure);
  if (failure) {
    return FailSys(failure.value(), "cannot find the project '" + Printable(directory) + "'");
  }
  for (fs::path at = start;; at = at.parent_path()) {
    if (const auto root = RootAt(at)) return ProjectRoot{root->string(), true};
    if (at == at.parent_path()) break;
  }
  return ProjectRoot{start.string(), false};
}

std::string ProjectKey(const std::string& root) { return Sha256Hex(root).substr(0, kKeyDigits); }

std::string ClaudeProjectName(std::string_view path) {
  const std::u16string units = ToUtf16(path);
  std::string name;
  std::uint32_t hash = 0;
  for (const char16_t unit : units) {
    const bool plain = (unit >= u'a' && unit <= u'z') || (unit >= u'A' && unit <= u'Z') ||
                       (unit >= u'0' && unit <= u'9');
    name += plain ? static_cast<char>(unit) : '-';
    hash = hash * 31 + unit;
  }
  if (name.size() <= kMaxClaudeName) return name;
  const auto number = static_cast<std::int64_t>(static_cast<std::int32_t>(hash));
  return name.substr(0, kMaxClaudeName) + "-" +
         Base36(static_cast<std::uint64_t>(std::abs(number)));
}

Result<std::string> OpenProjectHistory(const std::string& projects, const std::string& root) {
  const std::string directory = projects + "/" + ProjectKey(root);
  const std::string file = directory + std::string(kRootFile);
  IGLOO_TRY(OpenPrivateDirectory(directory, OwnLevels::kTwo));
  // The box sees this directory and may have written another name.
  if (ReadSmallFile(file) != root + "\n") IGLOO_TRY(ReplaceFile(file, root + "\n"));
  return directory;
}

Result<std::vector<StaleHistory>> FindStaleHistories(const std::string& projects) {
  std::vector<StaleHistory> stale;
  std::error_code failure;
  for (fs::directory_iterator at(projects, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (!IsKey(at->path().filename().string()) || at->is_symlink()) continue;
    auto root = ReadSmallFile(at->path().string() + std::string(kRootFile));
    if (!root) continue;
    // The older tool wrote no newline.
    if (root->ends_with('\n')) root->pop_back();
    // SECURITY: a box may have written the name; only the project's own directory goes.
    const bool own = root->starts_with('/') && ProjectKey(*root) == at->path().filename().string();
    if (own && IsGone(*root)) stale.push_back({at->path().string(), *std::move(root)});
  }
  if (failure && failure != std::errc::no_such_file_or_directory) {
    return FailSys(failure.value(), "cannot read '" + Printable(projects) + "'");
  }
  std::ranges::sort(stale, {}, &StaleHistory::directory);
  return stale;
}

Result<std::vector<StaleHistory>> RemoveStaleHistories(const std::string& projects) {
  IGLOO_ASSIGN(auto stale, FindStaleHistories(projects));
  // A project may be moved while a box runs that writes to its history.
  std::erase_if(stale, [](const StaleHistory& one) {
    const UniqueFd fd(
        ::open(one.directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return !fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0;
  });
  for (const StaleHistory& one : stale) {
    std::error_code failure;
    fs::remove_all(one.directory, failure);
    if (failure)
      return FailSys(failure.value(), "cannot remove '" + Printable(one.directory) + "'");
  }
  return stale;
}

}  // namespace igloo::agent
