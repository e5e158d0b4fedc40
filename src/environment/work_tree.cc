#include "environment/work_tree.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "sandbox/path.h"

namespace igloo::environment {
namespace {

constexpr std::size_t kMostText = 64U << 10;

std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : std::string();
}

mode_t TypeOf(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & S_IFMT : 0;
}

/// A short file of a repository's; links and pipes are not followed.
std::string ReadText(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return ReadAll(file.get(), kMostText).value_or("");
}

std::string ReadLine(const std::string& path) {
  const std::string text = ReadText(path);
  return text.substr(0, text.find('\n'));
}

std::string Below(const std::string& directory, const std::string& path) {
  return path.starts_with('/') ? path : directory + "/" + path;
}

bool LooksLikeRepository(const std::string& directory) {
  return TypeOf(directory + "/HEAD") != 0 && TypeOf(directory + "/objects") == S_IFDIR &&
         TypeOf(directory + "/refs") == S_IFDIR;
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// The only core.worktree of a configuration, as git itself writes it: in a line of its own,
/// without quotation marks. Empty where it stands in any other way.
std::string WorkTreeIn(const std::string& config) {
  std::string found, section;
  for (std::string_view rest = config; !rest.empty();) {
    const std::string_view line = Trimmed(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), rest.find('\n') + 1));
    if (line.starts_with('[')) section = AsciiLower(line);
    const std::size_t equals = line.find('=');
    if (section != "[core]" || equals == std::string_view::npos) continue;
    if (AsciiLower(Trimmed(line.substr(0, equals))) != "worktree") continue;
    const std::string_view value = Trimmed(line.substr(equals + 1));
    if (!found.empty() || value.find_first_of("\"\\;#") != std::string_view::npos) return {};
    found = value;
  }
  return found;
}

/// SECURITY: a hostile project could name ~/.ssh. A repository knows its work trees, and has them
/// in a directory of its own.
bool KnowsLinked(const std::string& common, const std::string& directory, const std::string& git) {
  return !common.empty() && directory != common &&
         sandbox::IsWithin(directory, common + "/worktrees") && LooksLikeRepository(common) &&
         RealPath(Below(directory, ReadLine(directory + "/gitdir"))) == git;
}

/// SECURITY: likewise; a submodule's repository names its one work tree in its configuration.
bool KnowsSubmodule(const std::string& directory, const std::string& project) {
  if (directory.empty() || !LooksLikeRepository(directory)) return false;
  const std::string named = WorkTreeIn(ReadText(directory + "/config"));
  return !named.empty() && RealPath(Below(directory, named)) == project;
}

}  // namespace

Result<WorkTree> FindWorkTree(const std::string& project) {
  const std::string git = project + "/.git";
  const mode_t type = TypeOf(git);
  if (type == S_IFDIR) {
    const std::string planted = git + "/commondir";
    if (TypeOf(planted) == 0) return WorkTree{.git_directory = git, .common = git};
    return Fail(Errc::kFailedPrecondition,
                "'" + Printable(planted) + "' would lead git to another repository's configuration",
                "only linked work trees have this file: look at what it names, then remove it");
  }
  if (type != S_IFREG) return WorkTree{};
  const std::string line = ReadLine(git);
  constexpr std::string_view kPrefix = "gitdir: ";
  if (!line.starts_with(kPrefix)) return WorkTree{};
  const std::string directory = RealPath(Below(project, line.substr(kPrefix.size())));
  const bool linked = !directory.empty() && TypeOf(directory + "/commondir") != 0;
  const std::string common =
      linked ? RealPath(Below(directory, ReadLine(directory + "/commondir"))) : directory;
  const bool known =
      linked ? KnowsLinked(common, directory, git) : KnowsSubmodule(directory, project);
  if (known) return WorkTree{.git_directory = directory, .common = common, .elsewhere = true};
  return Fail(Errc::kFailedPrecondition,
              "'" + Printable(git) + "' leads to '" +
                  Printable(Quoted(line.substr(kPrefix.size()))) +
                  "', which is no repository that knows this work tree",
              "run 'git worktree repair' in it, or in the repository that it belongs to; of a "
              "submodule, 'git submodule update --init' in the project that has it");
}

std::optional<sandbox::Hidden> WholeGitFile(const std::string& project, const WorkTree& tree) {
  const std::string path = project + "/.git";
  struct stat info{};
  if (!tree.elsewhere || ::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) ||
      ReadLine(path).starts_with("gitdir: /")) {
    return std::nullopt;
  }
  return sandbox::Hidden{
      .path = ".git",
      .fact = {.device = info.st_dev, .inode = info.st_ino, .type = info.st_mode & S_IFMT},
      .why = "reads with the whole path of the repository",
      .instead = "gitdir: " + tree.git_directory + "\n"};
}

}  // namespace igloo::environment
