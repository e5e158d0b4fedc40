#include "agent/git.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

constexpr std::size_t kMostText = 64U << 10;
/// Names the directory in which git looks for configuration and hooks instead.
constexpr const char* kCommonDirectory = "/commondir";

std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : std::string();
}

mode_t TypeOf(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & S_IFMT : 0;
}

/// A short file of the repository's; links and pipes are not followed. Without the line's end.
std::string ReadLine(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::string text = ReadAll(file.get(), kMostText).value_or("");
  return text.substr(0, text.find('\n'));
}

std::string Below(const std::string& directory, const std::string& path) {
  return path.starts_with('/') ? path : directory + "/" + path;
}

bool LooksLikeRepository(const std::string& directory) {
  return TypeOf(directory + "/HEAD") != 0 && TypeOf(directory + "/objects") == S_IFDIR &&
         TypeOf(directory + "/refs") == S_IFDIR;
}

std::string AskGit(const std::string& program, const std::string& home,
                   const std::vector<std::string>& where, const std::string& key) {
  auto pipe = MakePipe();
  if (!pipe) return {};
  std::vector<std::string> argv = {"git", "config"};
  argv.insert(argv.end(), where.begin(), where.end());
  argv.insert(argv.end(), {"--get", key});
  auto child = Spawn({.program = program,
                      .argv = std::move(argv),
                      // Where no repository is: its configuration would count as well.
                      .env = {"HOME=" + home, "PATH=/usr/bin:/bin", "GIT_DIR=/nonexistent",
                              "GIT_CONFIG_NOSYSTEM=1"},
                      .fds = {{pipe->second.get(), 1}}});
  if (!child) return {};
  pipe->second.Reset();
  std::string value = ReadAll(pipe->first.get(), kMostText).value_or("");
  const auto status = child->Wait();
  const bool fine = status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
  return fine ? value.substr(0, value.find('\n')) : std::string();
}

}  // namespace

std::string GitQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) >= ' ') quoted += c;
  }
  return quoted + "\"";
}

namespace {

sandbox::Entry Mounted(const std::string& path, sandbox::Access access) {
  return sandbox::HostTree{.source = path,
                           .target = path,
                           .access = access,
                           .presence = sandbox::Presence::kOptional,
                           .map_owner = true,
                           .covering = sandbox::Covering::kIntended};
}

}  // namespace

std::string ReadGitSetting(const std::string& program, const std::string& home,
                           std::string_view key) {
  return AskGit(program, home, {"--global"}, std::string(key));
}

GitIdentity ReadGitIdentity(const std::string& program, const std::string& home) {
  if (program.empty()) return {};
  const auto ask = [&](const char* key) { return AskGit(program, home, {"--global"}, key); };
  return {.name = ask("user.name"), .email = ask("user.email")};
}

GitIdentity IdentityIn(const WorkTree& tree, const std::string& program, const std::string& home,
                       GitIdentity otherwise) {
  const std::string file = tree.common + "/config";
  if (program.empty() || tree.common.empty() || TypeOf(file) != S_IFREG) return otherwise;
  // A file that is named includes no other one.
  const auto ask = [&](const char* key) { return AskGit(program, home, {"--file", file}, key); };
  if (std::string name = ask("user.name"); !name.empty()) otherwise.name = std::move(name);
  if (std::string email = ask("user.email"); !email.empty()) otherwise.email = std::move(email);
  return otherwise;
}

std::string GitConfigText(const GitIdentity& identity) {
  std::string text =
      "# Written by igloo for this box; yours is not in it.\n[safe]\n\tdirectory = *\n";
  if (!identity.name.empty() || !identity.email.empty()) text += "[user]\n";
  if (!identity.name.empty()) text += "\tname = " + GitQuoted(identity.name) + "\n";
  if (!identity.email.empty()) text += "\temail = " + GitQuoted(identity.email) + "\n";
  return text;
}

Result<WorkTree> FindWorkTree(const std::string& project) {
  const std::string git = project + "/.git";
  const mode_t type = TypeOf(git);
  if (type == S_IFDIR) {
    if (TypeOf(git + kCommonDirectory) == 0) return WorkTree{.git_directory = git, .common = git};
    return Fail(Errc::kFailedPrecondition,
                "'" + Printable(git + kCommonDirectory) +
                    "' would lead git to another repository's configuration",
                "only linked work trees have this file: look at what it names, then remove it");
  }
  if (type != S_IFREG) return WorkTree{};
  const std::string line = ReadLine(git);
  constexpr std::string_view kPrefix = "gitdir: ";
  if (!line.starts_with(kPrefix)) return WorkTree{};
  const std::string directory = RealPath(Below(project, line.substr(kPrefix.size())));
  const std::string common =
      directory.empty() ? "" : RealPath(Below(directory, ReadLine(directory + "/commondir")));
  // SECURITY: a hostile project could name ~/.ssh here. A repository knows its work trees, and has
  // them in a directory of its own.
  const bool known = !common.empty() && directory != common &&
                     sandbox::IsWithin(directory, common + "/worktrees") &&
                     LooksLikeRepository(common) &&
                     RealPath(Below(directory, ReadLine(directory + "/gitdir"))) == git;
  if (known) return WorkTree{.git_directory = directory, .common = common};
  return Fail(Errc::kFailedPrecondition,
              "'" + Printable(git) + "' leads to '" +
                  Printable(Quoted(line.substr(kPrefix.size()))) +
                  "', which is no repository that knows this work tree",
              "run 'git worktree repair' in it, or in the repository that it belongs to");
}

bool RemovePlantedDirection(const WorkTree& tree) {
  if (tree.common.empty() || tree.linked()) return false;
  return ::unlink((tree.common + kCommonDirectory).c_str()) == 0;
}

std::vector<sandbox::Entry> GuardWorkTree(const std::string& project, const WorkTree& tree) {
  using enum sandbox::Access;
  if (tree.common.empty()) return {};
  std::vector<sandbox::Entry> guards;
  // A mount cannot be renamed: with the repository being one, nothing takes the guards' place.
  guards.push_back(Mounted(tree.common, kReadWrite));
  guards.push_back(Mounted(tree.common + "/hooks", kReadOnly));
  guards.push_back(Mounted(tree.common + "/config", kReadOnly));
  if (TypeOf(tree.git_directory + "/config.worktree") != 0) {
    guards.push_back(Mounted(tree.git_directory + "/config.worktree", kReadOnly));
  }
  if (tree.linked()) guards.push_back(Mounted(project + "/.git", kReadOnly));
  return guards;
}

}  // namespace igloo::agent
