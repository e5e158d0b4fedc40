#include "service/changes/git.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "service/changes/git_confine.h"
#include "service/changes/git_places.h"
#include "service/changes/tree.h"

namespace igloo::service::changes {
namespace {

constexpr std::size_t kMostOutput = 256U << 20;

/// SECURITY: whoever can write to a directory of PATH chooses which program this is.
bool BelongsToRoot(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && info.st_uid == 0 &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// What every call is told. SECURITY: where git works for a project, that one's configuration could
/// name programs; none of these is ever started.
constexpr std::array<const char*, 7> kSettings = {
    "core.hooksPath=/dev/null",   "core.fsmonitor=false", "gc.auto=0",
    "maintenance.auto=false",     "protocol.allow=never", "core.alternateRefsCommand=/bin/false",
    "core.logAllRefUpdates=true",
};

/// A file without a name, for what git says on its standard error.
Result<UniqueFd> ScratchFile() {
  UniqueFd fd(::memfd_create("git", MFD_CLOEXEC));
  if (fd) return fd;
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot keep what git says");
}

std::string TextIn(int fd, std::size_t most) {
  ::lseek(fd, 0, SEEK_SET);
  return ReadAll(fd, most).value_or("");
}

std::string_view WithoutNewlines(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

std::uint32_t Big32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

/// A directory that the acting user makes and reaches, on a disk if there is one.
Result<TempDir> PlaceForAnybody() {
  auto directory = TempDir::Make("/var/tmp");
  return directory ? std::move(directory) : TempDir::Make("/tmp");
}

/// Where git looks for objects that a repository lacks.
Result<void> BorrowObjects(const std::string& repository, const std::string& objects) {
  return ReplaceFile(repository + "/objects/info/alternates", objects + "\n");
}

}  // namespace

Result<std::string> Git::FindProgram() {
  const char* own = std::getenv("PATH");
  std::string places = own != nullptr ? own : "";
  places += ":/usr/bin:/bin:/run/current-system/sw/bin";
  for (std::string_view rest = places; !rest.empty();) {
    const std::string place(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), place.size() + 1));
    const std::string program = place + "/git";
    if (place.starts_with('/') && BelongsToRoot(place) && BelongsToRoot(program) &&
        ::access(program.c_str(), X_OK) == 0) {
      return program;
    }
  }
  return Fail(Errc::kFailedPrecondition, "git is not installed",
              "install it (sudo apt install git); igloo uses only one that belongs to root");
}

Result<Git> Git::For(int repository, const std::string& path) {
  Git git;
  IGLOO_ASSIGN(git.program_, FindProgram());
  git.path_ = path;
  git.repository_ = OpenBeneath(repository, "", O_RDONLY | O_DIRECTORY);
  if (!git.repository_) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + Printable(path) + "'");
  }
  IGLOO_ASSIGN(git.user_, ActingUser::ForDirectory(git.repository_.get()));
  IGLOO_TRY(CheckGitPlaces(git.repository_.get(), path, git.user_));
  return git;
}

Result<void> Git::CheckBranch(const std::string& branch) const {
  return CheckGitBranch(repository_.get(), path_, branch);
}

/// Starts it and waits for its end.
Result<int> Git::Wait(const Call& call, int input, int output, int errors) const {
  std::vector<std::string> argv = {program_};
  for (const char* setting : kSettings) argv.insert(argv.end(), {"-c", setting});
  argv.insert(argv.end(), call.args.begin(), call.args.end());
  std::vector<std::string> env = {
      "PATH=/usr/bin:/bin",       "HOME=/nonexistent",           "LC_ALL=C",
      "GIT_CONFIG_NOSYSTEM=1",    "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
      "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",         "GIT_DIR=" + call.repository};
  env.insert(env.end(), call.variables.begin(), call.variables.end());
  SpawnOptions options{.program = program_,
                       .argv = std::move(argv),
                       .env = std::move(env),
                       .fds = {{input, 0}, {output, 1}, {errors, 2}},
                       .own_session = true};
  if (user_.other()) {
    options.become = user_.user();
    options.become_group = user_.group();
  }
  const UniqueFd other(
      call.repository == path_
          ? -1
          : ::open(call.repository.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  std::vector<int> writable = {repository_.get()};
  if (other) writable.push_back(other.get());
  int status = 0;
  IGLOO_TRY(WithWritesBeneath(writable, [&]() -> Result<void> {
    IGLOO_ASSIGN(Child child, Spawn(options));
    IGLOO_ASSIGN(status, child.Wait());
    return {};
  }));
  return status;
}

Result<std::string> Git::Run(const Call& call, int input, int output) const {
  IGLOO_ASSIGN(const UniqueFd given, ScratchFile());
  IGLOO_ASSIGN(const UniqueFd out, ScratchFile());
  IGLOO_ASSIGN(const UniqueFd err, ScratchFile());
  IGLOO_TRY(WriteAll(given.get(), call.input));
  ::lseek(given.get(), 0, SEEK_SET);
  IGLOO_ASSIGN(const int status, Wait(call, input >= 0 ? input : given.get(),
                                      output >= 0 ? output : out.get(), err.get()));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string said = TextIn(err.get(), 64U << 10);
    return Fail(Errc::kFailedPrecondition,
                "git " + call.args.front() + " failed: " +
                    Quoted(WithoutNewlines(said.empty() ? "it said nothing" : said), 500));
  }
  ::lseek(out.get(), 0, SEEK_SET);
  return ReadAll(out.get(), kMostOutput);
}

Result<std::string> Git::Run(const Call& call) const { return Run(call, -1, -1); }

Result<ScratchRepository> ScratchRepository::Make(const Git& git, const std::string& place,
                                                  const std::string& names) {
  IGLOO_ASSIGN(const auto rights, git.user().TakeRights());
  IGLOO_ASSIGN(TempDir directory, git.user().other() ? PlaceForAnybody() : TempDir::Make(place));
  ScratchRepository scratch(git.user(), std::move(directory));
  IGLOO_TRY(
      git.Run({.repository = scratch.path(),
               .args = {"init", "--bare", "--quiet", "--template=", "--object-format=" + names}}));
  const std::string objects = git.path() + "/objects";
  if (objects.find('\n') != std::string::npos || objects.starts_with('#')) {
    return Fail(Errc::kInvalidArgument,
                "git cannot share objects with '" + Printable(git.path()) + "'",
                "give its directory a name without newlines");
  }
  IGLOO_TRY(BorrowObjects(scratch.path(), objects));
  return scratch;
}

ScratchRepository::~ScratchRepository() {
  const auto rights = user_.TakeRights();
  directory_.reset();
}

GitIndex GitIndex::Decode(std::string_view bytes, std::size_t name_size, std::int64_t written) {
  GitIndex index;
  index.written_ = written;
  const std::uint32_t version = bytes.size() >= 12 ? Big32(bytes.substr(4)) : 0;
  if (!bytes.starts_with("DIRC") || version < 2 || version > 4) return index;
  const std::uint32_t count = Big32(bytes.substr(8));
  std::string path;
  std::size_t at = 12;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t begin = at, fixed = 40 + name_size + 2;
    if (bytes.size() - at < fixed + 3) return index;
    const std::string_view entry = bytes.substr(at);
    Entry found{.modified = static_cast<std::int64_t>(Big32(entry.substr(8))) * 1'000'000'000 +
                            Big32(entry.substr(12)),
                .inode = Big32(entry.substr(20)),
                .size = Big32(entry.substr(36)),
                .object = Hex(entry.substr(40, name_size))};
    const bool extended = (static_cast<unsigned char>(entry[40 + name_size]) & 0x40) != 0;
    const bool merging = (static_cast<unsigned char>(entry[40 + name_size]) & 0x30) != 0;
    at += fixed + (extended && version >= 3 ? 2 : 0);
    if (version == 4) {
      // How much of the path before goes, in git's variable-length numbers.
      std::size_t gone = 0;
      unsigned char byte = 0x80;
      for (bool first = true; at < bytes.size() && (byte & 0x80) != 0; first = false) {
        byte = static_cast<unsigned char>(bytes[at++]);
        gone = ((first ? 0 : gone + 1) << 7) | (byte & 0x7f);
      }
      if (gone > path.size()) return index;
      path.resize(path.size() - gone);
    } else {
      path.clear();
    }
    const std::size_t end = bytes.find('\0', at);
    if (end == std::string_view::npos) return index;
    path += bytes.substr(at, end - at);
    at = version == 4 ? end + 1 : begin + ((end - begin + 8) & ~std::size_t{7});
    if (at > bytes.size()) return index;
    if (!merging) index.entries_[path] = std::move(found);
  }
  return index;
}

std::optional<std::string> GitIndex::ObjectOf(const std::string& path, const Node& node) const {
  const auto found = entries_.find(path);
  if (found == entries_.end()) return std::nullopt;
  const Entry& entry = found->second;
  const bool same = entry.modified == node.modified &&
                    entry.inode == static_cast<std::uint32_t>(node.inode) &&
                    entry.size == static_cast<std::uint32_t>(node.size);
  // A file that was written in the moment in which the index was could have changed again without a
  // new time: git calls it racy.
  if (!same || entry.modified >= written_) return std::nullopt;
  return entry.object;
}

}  // namespace igloo::service::changes
