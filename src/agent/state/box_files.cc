#include "agent/state/box_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "agent/state/json_text.h"
#include "base/file.h"
#include "base/open_beneath.h"
#include "base/scope_exit.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace igloo::agent {
namespace {

constexpr int kRead = O_RDONLY | O_NONBLOCK | O_NOCTTY;

UniqueFd OpenHome(const std::string& home) {
  return UniqueFd(::open(home.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// The directory of a path below the box's home; those that are missing are made.
UniqueFd OpenParent(const std::string& home, std::string_view path) {
  UniqueFd fd = OpenHome(home);
  for (std::size_t slash = path.find('/'); fd && slash != path.npos; slash = path.find('/')) {
    const std::string name(path.substr(0, slash));
    ::mkdirat(fd.get(), name.c_str(), 0700);
    fd = OpenBeneath(fd.get(), name, O_RDONLY | O_DIRECTORY);
    path.remove_prefix(slash + 1);
  }
  return fd;
}

class Walk {
 public:
  explicit Walk(const AgentFiles& agent) : agent_(agent) {}

  void Directory(UniqueFd fd, const std::string& prefix, int depth) {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd.get()), ::closedir);
    if (!stream) return;
    const int directory = fd.Release();
    while (const dirent* entry = ::readdir(stream.get())) {
      if (found_.size() == kMaxBoxFiles || ++visited_ > kMaxBoxEntries) return;
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      struct stat info{};
      if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
      const std::string path = prefix + name;
      if (S_ISREG(info.st_mode) && IsOurs(path)) found_.push_back(path);
      if (!S_ISDIR(info.st_mode) || depth == kMaxBoxDepth || !HasOurs(path + "/")) continue;
      UniqueFd below = OpenBeneath(directory, name, kRead | O_DIRECTORY);
      if (below) Directory(std::move(below), path + "/", depth + 1);
    }
  }

  std::vector<std::string> Take() {
    std::ranges::sort(found_);
    return std::move(found_);
  }

 private:
  static bool IsTaken(const FileRule* rule) {
    return rule != nullptr && rule->handing != Handing::kOfProject &&
           rule->otherwise != Treatment::kDropped;
  }
  bool IsOurs(const std::string& path) const { return IsTaken(RuleFor(agent_, path)); }

  /// Whether files below a directory could be the agent's.
  bool HasOurs(const std::string& directory) const {
    for (const FileRule& rule : agent_.files) {
      if (rule.path.size() > directory.size() && rule.path.starts_with(directory)) return true;
      if (rule.path.ends_with('/') && directory.starts_with(rule.path)) return IsTaken(&rule);
    }
    return false;
  }

  const AgentFiles& agent_;
  std::vector<std::string> found_ = {};
  std::size_t visited_ = 0;
};

}  // namespace

Result<std::vector<std::string>> ListBoxFiles(const std::string& home, const AgentFiles& agent) {
  UniqueFd fd = OpenHome(home);
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + Printable(home) + "'");
  }
  Walk walk(agent);
  walk.Directory(std::move(fd), "", 0);
  return walk.Take();
}

Result<std::optional<std::string>> ReadBoxFile(const std::string& home, const std::string& path) {
  const UniqueFd top = OpenHome(home);
  const UniqueFd fd = OpenBeneath(top.get(), path, kRead);
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  auto text = ReadAll(fd.get(), kMaxStateFile);
  if (!text) return Wrap("the box's '" + Printable(path) + "'", std::move(text).error());
  return *std::move(text);
}

Result<void> WriteBoxFile(const std::string& home, const std::string& path,
                          const std::optional<std::string>& expected, std::string_view text) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::string prepared = name + ".igloo-new";
  const UniqueFd directory = OpenParent(home, path);
  const auto fail = [&](int saved_errno) {
    return FailSys(saved_errno, "cannot write the box's '" + Printable(path) + "'");
  };
  if (!directory) return fail(errno);
  ::unlinkat(directory.get(), prepared.c_str(), 0);
  const UniqueFd fd(::openat(directory.get(), prepared.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return fail(errno);
  const ScopeExit cleanup([&] { ::unlinkat(directory.get(), prepared.c_str(), 0); });
  IGLOO_TRY(WriteAll(fd.get(), text));
  // The agent in the box does not know our lock. Exchanged, both versions are there still, and
  // what was written in between goes back to its place.
  const auto move = [&](unsigned flags) {
    return ::renameat2(directory.get(), prepared.c_str(), directory.get(), name.c_str(), flags);
  };
  if (move(expected ? RENAME_EXCHANGE : RENAME_NOREPLACE) != 0) return fail(errno);
  if (!expected) return {};
  const UniqueFd old = OpenBeneath(directory.get(), prepared, kRead);
  const auto said = old ? ReadAll(old.get(), kMaxStateFile) : Result<std::string>("");
  if (said && *said == *expected) return {};
  if (move(RENAME_EXCHANGE) != 0) return fail(errno);
  return Fail(Errc::kFailedPrecondition, "the box changed '" + Printable(path) + "' meanwhile");
}

}  // namespace igloo::agent
