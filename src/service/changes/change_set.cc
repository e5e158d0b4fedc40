#include "service/changes/change_set.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/file.h"
#include "base/private_directory.h"
#include "base/remove_tree.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "environment/work_tree.h"
#include "service/changes/base_record.h"
#include "service/changes/journal.h"
#include "service/changes/packed.h"
#include "service/places.h"

namespace igloo::service::changes {
namespace {

constexpr std::uint64_t kVersion = 2;
/// Had no repository that lies elsewhere.
constexpr std::uint64_t kFirstVersion = 1;
constexpr std::size_t kLongestName = 64;
/// Longer than it takes to record the largest project.
constexpr std::time_t kMakingSeconds = 3600;

/// What the record says of how far a change set is.
enum class Progress : std::uint64_t { kBegun = 1, kEnded, kApplied };

struct Record {
  ChangeSet set = {};
  Progress progress = Progress::kBegun;
};

Result<std::string> Place() {
  IGLOO_ASSIGN(const std::string state, StatePlace());
  const std::string place = state + "/changes";
  IGLOO_TRY(OpenPrivateDirectory(place, OwnLevels::kTwo));
  return place;
}

Result<void> Write(const Record& record) {
  const ChangeSet& set = record.set;
  Packer out;
  out.Number(kVersion);
  out.Number(static_cast<std::uint64_t>(record.progress));
  out.Text(set.project);
  out.Text(set.by);
  out.Number(static_cast<std::uint64_t>(set.began));
  out.Number(set.device);
  out.Number(set.inode);
  out.Number(set.name_size);
  out.Text(set.head);
  out.Text(set.repository);
  out.Text(set.work_tree);
  return ReplaceFile(set.place + "/record", out.bytes());
}

/// Nothing: whoever began it was killed before it was there.
std::optional<Record> Read(const std::string& place, const std::string& name) {
  const auto bytes = ReadFile(place + "/record", 1U << 20);
  if (!bytes) return std::nullopt;
  Unpacker in(*bytes);
  const std::uint64_t version = in.Number();
  if (version != kVersion && version != kFirstVersion) return std::nullopt;
  Record record{.set = {.name = name}};
  record.progress = static_cast<Progress>(in.Number());
  record.set.project = in.Text();
  record.set.by = in.Text();
  record.set.began = static_cast<std::int64_t>(in.Number());
  record.set.device = in.Number();
  record.set.inode = in.Number();
  record.set.name_size = in.Number();
  record.set.head = in.Text();
  if (version == kVersion) {
    record.set.repository = in.Text();
    record.set.work_tree = in.Text();
  }
  record.set.place = place;
  if (!in.ok() || !in.done()) return std::nullopt;
  return record;
}

std::string LockOf(const std::string& place) { return place + "/lock"; }

/// What an igloo that was killed left there.
Result<void> MakeDirectory(const std::string& place,
                           const std::string& name) {  // NOLINT(misc-no-recursion)
  if (::mkdir(place.c_str(), S_IRWXU) == 0) return {};
  const int saved_errno = errno;
  if (saved_errno != EEXIST) return FailSys(saved_errno, "cannot make '" + Printable(place) + "'");
  if (::access((place + "/record").c_str(), F_OK) == 0) {
    return Fail(Errc::kFailedPrecondition, "there are changes called '" + name + "' already",
                "choose another name, or give those up: igloo discard " + name);
  }
  {
    IGLOO_ASSIGN(const UniqueFd lock, LockPrivateFile(LockOf(place)));
    IGLOO_TRY(RemoveTree(place));
  }
  return MakeDirectory(place, name);
}

Result<void> MakeLayer(const std::string& layer) {
  for (const char* each : {"", "/upper", "/work"}) {
    const std::string path = layer + each;
    if (::mkdir(path.c_str(), S_IRWXU) == 0) continue;
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot make '" + Printable(path) + "'");
  }
  return {};
}

/// Which objects have the content of which files.
Result<void> RecordIndex(const Tree& git, const std::string& place) {
  const auto index = git.Look("index");
  if (!index) return {};
  const auto bytes = git.Read("index", 1UL << 30);
  if (!bytes) return {};
  const std::string copy = place + "/index";
  IGLOO_TRY(ReplaceFile(copy, *bytes));
  // Its time decides which of its entries can be trusted.
  const timespec time{.tv_sec = static_cast<time_t>(index->modified / 1'000'000'000),
                      .tv_nsec = static_cast<long>(index->modified % 1'000'000'000)};
  const timespec times[] = {time, time};
  ::utimensat(AT_FDCWD, copy.c_str(), times, 0);
  return {};
}

/// What of a git repository has to be known later: where it is, where HEAD was, and its index.
Result<void> RecordGit(const Tree& project, ChangeSet& set) {
  const auto git = project.Look(".git");
  if (!git) return {};
  if (git->type == Type::kLink) {
    return Fail(Errc::kFailedPrecondition,
                "'" + Printable(set.project) + "/.git' is a symbolic link",
                "changes to such a project cannot be kept: work on a clone of it");
  }
  IGLOO_ASSIGN(const environment::WorkTree tree, environment::FindWorkTree(set.project));
  if (tree.common.empty()) return {};
  IGLOO_ASSIGN(const Tree own, Tree::Open(tree.git_directory));
  IGLOO_ASSIGN(const Tree common, Tree::Open(tree.common));
  const auto head = own.Read("HEAD", 4096);
  if (!head) return {};  // a directory of that name, and no repository
  set.head = head->substr(0, head->find('\n'));
  if (tree.elsewhere) {
    set.repository = tree.common;
    if (tree.linked()) set.work_tree = tree.git_directory.substr(tree.common.size() + 1);
    IGLOO_TRY(MakeLayer(set.place + "/repository"));
  }
  const auto config = common.Read("config", 1U << 20);
  // Read for one word alone, and never given to git.
  const bool long_names =
      config && AsciiLower(*config).find("objectformat = sha256") != std::string::npos;
  set.name_size = long_names ? 32 : 20;
  return RecordIndex(own, set.place);
}

Result<void> CheckPlaces(const std::string& project, const std::string& place) {
  if (!LiesIn(place, project)) return {};
  return Fail(Errc::kFailedPrecondition,
              "igloo's own state lies in the project '" + Printable(project) + "'",
              "set XDG_STATE_HOME to a directory outside of it");
}

ChangeSet::State StateOf(const Record& record, bool locked) {
  switch (record.progress) {
    case Progress::kBegun:
      return locked ? ChangeSet::State::kRunning : ChangeSet::State::kInterrupted;
    case Progress::kEnded:
      return ChangeSet::State::kReady;
    case Progress::kApplied:
      return ChangeSet::State::kApplied;
  }
  return ChangeSet::State::kReady;
}

std::unexpected<Error> NoSuch(const std::string& name) {
  return Fail(Errc::kNotFound, "there are no changes called '" + Printable(name) + "'",
              "'igloo changes list' shows all");
}

}  // namespace

Result<void> CheckName(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  const bool fine = !name.empty() && name.size() <= kLongestName &&
                    std::ranges::all_of(name, fits) && name[0] != '.' && name[0] != '-' &&
                    name.find("..") == std::string::npos && !name.ends_with(".lock") &&
                    !name.ends_with('.');
  if (fine) return {};
  return Fail(Errc::kInvalidArgument, "'" + Printable(name) + "' is not a name for changes",
              "use letters, digits, '-', '_' and '.', at most 64 of them, such as fix-parser");
}

Result<OpenChangeSet> Begin(const Beginning& beginning) {
  IGLOO_TRY(CheckName(beginning.name));
  IGLOO_ASSIGN(const std::string places, Place());
  const std::string place = places + "/" + beginning.name;
  IGLOO_TRY(CheckPlaces(beginning.project, place));
  IGLOO_ASSIGN(const Tree project, Tree::Open(beginning.project));
  IGLOO_TRY(MakeDirectory(place, beginning.name));
  IGLOO_ASSIGN(UniqueFd lock, LockPrivateFile(LockOf(place)));
  struct stat info{};
  if (::fstat(project.fd(), &info) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot look at '" + Printable(beginning.project) + "'");
  }
  Record record{.set = {.name = beginning.name,
                        .project = beginning.project,
                        .by = beginning.by,
                        .began = std::time(nullptr),
                        .device = info.st_dev,
                        .inode = info.st_ino,
                        .state = ChangeSet::State::kRunning,
                        .place = place}};
  const auto fill = [&]() -> Result<void> {
    IGLOO_TRY(MakeLayer(place + "/layer"));
    IGLOO_TRY(RecordGit(project, record.set));
    IGLOO_ASSIGN(const std::string base, RecordBase(project));
    IGLOO_TRY(ReplaceFile(place + "/base", base));
    // Last: with it there is a change set.
    return Write(record);
  };
  if (auto filled = fill(); !filled) {
    (void)RemoveTree(place);
    return std::unexpected(std::move(filled).error());
  }
  return OpenChangeSet(std::move(record.set), std::move(lock));
}

Result<void> OpenChangeSet::Close() {
  set_.state = ChangeSet::State::kReady;
  IGLOO_TRY(Write({set_, Progress::kEnded}));
  lock_.Reset();
  return {};
}

namespace {

/// Whether the sandbox wrote anything into its copy.
bool IsWritten(const ChangeSet& set) {
  bool written = false;
  for (const char* layer : {"/layer", "/repository"}) {
    const auto upper = Tree::Open(set.place + layer + "/upper");
    if (!upper) continue;
    (void)EachName(upper->fd(), [&](const char*) -> Result<void> {
      written = true;
      return {};
    });
  }
  return written;
}

/// One that is being made has no lock for a moment, and no record for as long as that takes.
bool IsOld(const std::string& place) {
  struct stat info{};
  return ::lstat(place.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_mtime < std::time(nullptr) - kMakingSeconds;
}

}  // namespace

Result<std::vector<Unused>> FindUnused() {
  IGLOO_ASSIGN(const std::string place, Place());
  IGLOO_ASSIGN(const Tree tree, Tree::Open(place));
  std::vector<Unused> all;
  IGLOO_TRY(EachName(tree.fd(), [&](const char* name) -> Result<void> {
    const std::string own = place + "/" + name;
    if (!CheckName(name)) return {};
    const bool old = IsOld(own);  // before the lock, whose file may be new
    auto lock = LockPrivateFile(LockOf(own));
    if (!lock) return {};
    if (::access((own + "/record").c_str(), F_OK) != 0) {
      if (errno == ENOENT && old) all.push_back({name, own, false, *std::move(lock)});
      return {};
    }
    // One that cannot be read may be of another igloo's.
    const auto record = Read(own, name);
    const bool begun = record && record->progress == Progress::kBegun;
    if (begun && !IsWritten(record->set)) all.push_back({name, own, true, *std::move(lock)});
    return {};
  }));
  std::ranges::sort(all, {}, &Unused::name);
  return all;
}

Result<void> RemoveUnused(const Unused& unused) {
  ::unlink((unused.place + "/record").c_str());
  return RemoveTree(unused.place);
}

void OpenChangeSet::GiveUp() {
  if (!IsWritten(set_)) (void)Discard({set_, {}});
  lock_.Reset();
}

Result<std::vector<ChangeSet>> List() {
  IGLOO_ASSIGN(const std::string place, Place());
  IGLOO_ASSIGN(const Tree tree, Tree::Open(place));
  std::vector<ChangeSet> sets;
  IGLOO_TRY(EachName(tree.fd(), [&](const char* name) -> Result<void> {
    const std::string own = place + "/" + name;
    auto record = CheckName(name) ? Read(own, name) : std::nullopt;
    if (!record) return {};
    const auto lock = LockPrivateFile(LockOf(own));
    record->set.state = StateOf(*record, !lock);
    // What cannot be finished now is said by whoever wants to use it.
    if (lock) (void)Recover(record->set);
    sets.push_back(std::move(record->set));
    return {};
  }));
  std::ranges::sort(sets, {}, &ChangeSet::name);
  return sets;
}

Result<Held> Find(const std::string& name) {
  if (!CheckName(name)) return NoSuch(name);
  IGLOO_ASSIGN(const std::string place, Place());
  const std::string own = place + "/" + name;
  auto record = Read(own, name);
  if (!record) return NoSuch(name);
  auto lock = LockPrivateFile(LockOf(own));
  if (!lock) {
    if (lock.error().code != Errc::kFailedPrecondition) {
      return std::unexpected(std::move(lock).error());
    }
    return Fail(
        Errc::kFailedPrecondition,
        "the changes '" + name + "' are in use: their sandbox runs, or they are applied now",
        "wait for that to end");
  }
  record->set.state = StateOf(*record, false);
  return Held{std::move(record->set), *std::move(lock)};
}

Result<void> Discard(Held held) {
  // Half of a change would stay in the project otherwise. Where there is none any more, it does not
  // matter.
  if (OpenProject(held.set)) IGLOO_TRY(Recover(held.set));
  // The record first: what is left by an igloo that is killed now is no change set any more.
  ::unlink((held.set.place + "/record").c_str());
  return RemoveTree(held.set.place);
}

Result<void> MarkApplied(const ChangeSet& set) { return Write({set, Progress::kApplied}); }

}  // namespace igloo::service::changes
