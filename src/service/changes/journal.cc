#include "service/changes/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/file.h"
#include "base/random.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "service/changes/packed.h"

namespace igloo::service::changes {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kLargestJournal = 1UL << 30;

enum class Phase : std::uint64_t {
  kStaging = 1,  ///< new files are written aside; no name has changed
  kMoving,       ///< names change places
};

struct Journal {
  Phase phase = Phase::kStaging;
  std::string staging = {};  ///< the directory in the project where things lie aside
  std::vector<Operation> operations = {};
};

std::string JournalPlace(const ChangeSet& set) { return set.place + "/journal"; }

std::string Encode(const Journal& journal) {
  Packer out;
  out.Number(kVersion);
  out.Number(static_cast<std::uint64_t>(journal.phase));
  out.Text(journal.staging);
  out.Number(journal.operations.size());
  for (const Operation& each : journal.operations) {
    out.Number(static_cast<std::uint64_t>(each.kind));
    out.Text(each.path);
    out.Number(each.expected ? 1 : 0);
    out.Entry(each.expected.value_or(Node{}));
    out.Number(each.mode);
    out.Number(each.staged_inode);
  }
  return out.bytes();
}

Result<Journal> Decode(std::string_view bytes) {
  Unpacker in(bytes);
  Journal journal;
  const bool known = in.Number() == kVersion;
  journal.phase = static_cast<Phase>(in.Number());
  journal.staging = in.Text();
  const std::uint64_t count = in.Number();
  for (std::uint64_t i = 0; known && in.ok() && i < count; ++i) {
    Operation each;
    each.kind = static_cast<Operation::Kind>(in.Number());
    each.path = in.Text();
    const bool expects = in.Number() == 1;
    const Node node = in.Entry();
    if (expects) each.expected = node;
    each.mode = static_cast<std::uint32_t>(in.Number());
    each.staged_inode = in.Number();
    journal.operations.push_back(std::move(each));
  }
  if (known && in.ok() && in.done()) return journal;
  return Fail(Errc::kFailedPrecondition, "the journal of an interrupted apply is damaged",
              "look at the project's files, then discard the change set");
}

/// INVARIANT: the journal is on the disk before anything that it tells of happens.
Result<void> Save(const ChangeSet& set, const Journal& journal) {
  IGLOO_TRY(ReplaceFile(JournalPlace(set), Encode(journal)));
  const UniqueFd directory(::open(set.place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory && ::fsync(directory.get()) == 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot write the journal");
}

std::string NewName(std::size_t number) { return std::to_string(number); }
std::string OldName(std::size_t number) { return std::to_string(number) + ".old"; }

std::optional<Node> LookAt(int directory, const std::string& name) {
  struct stat info{};
  if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return NodeOf(info);
}

/// Copies an open file's bytes.
Result<void> CopyBytes(int from, int to) {
  std::vector<char> buffer(1U << 20);
  for (;;) {
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count == 0) return {};
    if (count < 0) {
      const int saved_errno = errno;
      if (saved_errno == EINTR) continue;
      return FailSys(saved_errno, "cannot read");
    }
    IGLOO_TRY(WriteAll(to, {buffer.data(), static_cast<std::size_t>(count)}));
  }
}

/// The work on one project.
class Work {
 public:
  Work(const Tree& project, const AtStep& at_step) : project_(project), at_step_(at_step) {}

  void Step(std::string_view step) const {
    if (at_step_) at_step_(step);
  }

  /// Writes everything new into the directory aside.
  Result<void> Stage(Journal& journal, const Tree& upper) {
    Step("make the staging directory");
    if (::mkdirat(project_.fd(), journal.staging.c_str(), 0700) != 0) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot write to the project",
                     "whoever applies changes must own the project");
    }
    IGLOO_TRY(OpenStaging(journal));
    for (std::size_t i = 0; i < journal.operations.size(); ++i) {
      Operation& each = journal.operations[i];
      if (each.kind != Operation::Kind::kPut) continue;
      Step("write aside");
      if (auto written = Write(each, NewName(i), upper); !written) {
        return Wrap("'" + Printable(each.path) + "'", std::move(written).error());
      }
      const auto node = LookAt(staging_.get(), NewName(i));
      if (!node) return Fail(Errc::kInternal, "what was written aside is gone");
      each.staged_inode = node->inode;
    }
    return Sync();
  }

  /// Also after a crash: what has happened already is recognised.
  Result<Left> Move(const Journal& journal) {
    Left left;
    for (std::size_t i = 0; i < journal.operations.size(); ++i) {
      Step("move");
      if (!Do(journal.operations[i], i)) left.push_back(journal.operations[i].path);
    }
    IGLOO_TRY(Sync());
    return left;
  }

  Result<void> OpenStaging(const Journal& journal) {
    staging_ = OpenBeneath(project_.fd(), journal.staging, O_RDONLY | O_DIRECTORY);
    if (staging_) return {};
    const int saved_errno = errno;
    return FailSys(saved_errno,
                   "cannot open the directory '" + journal.staging + "' in the project");
  }

  /// What lies aside is old or was never needed.
  Result<void> RemoveStaging(const Journal& journal) {
    std::vector<std::string> names;
    IGLOO_TRY(EachName(staging_.get(), [&](const char* name) -> Result<void> {
      names.emplace_back(name);
      return {};
    }));
    for (const std::string& name : names) {
      if (keep_.contains(name)) continue;
      Step("remove what lies aside");
      ::unlinkat(staging_.get(), name.c_str(), 0);
    }
    if (!keep_.empty()) return {};
    Step("remove the staging directory");
    if (::unlinkat(project_.fd(), journal.staging.c_str(), AT_REMOVEDIR) == 0) return {};
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot remove '" + journal.staging + "' from the project",
                   "look at what is in it");
  }

 private:
  /// Root writes for whoever owns the project.
  Result<void> Own(int fd, const Operation& operation) const {
    struct stat info{};
    const UniqueFd parent = Parent(operation.path);
    const auto old = operation.expected && operation.expected->type != Type::kDirectory
                         ? OpenBeneath(project_.fd(), operation.path, O_PATH)
                         : UniqueFd();
    const int like = old ? old.get() : parent ? parent.get() : project_.fd();
    if (::geteuid() != 0 || ::fstat(like, &info) != 0) return {};
    if (::fchownat(fd, "", info.st_uid, info.st_gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0) {
      return {};
    }
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot keep the owner");
  }

  Result<void> Write(const Operation& operation, const std::string& name, const Tree& upper) {
    if (operation.link) {
      if (::symlinkat(operation.content->c_str(), staging_.get(), name.c_str()) != 0) {
        const int saved_errno = errno;
        return FailSys(saved_errno, "cannot make a link");
      }
      const UniqueFd link = OpenBeneath(staging_.get(), name, O_PATH);
      return Own(link.get(), operation);
    }
    const UniqueFd file =
        OpenBeneath(staging_.get(), name, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (!file) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot write");
    }
    if (operation.content) {
      IGLOO_TRY(WriteAll(file.get(), *operation.content));
    } else {
      IGLOO_ASSIGN(const UniqueFd from, upper.OpenFile(operation.path));
      IGLOO_TRY(CopyBytes(from.get(), file.get()));
    }
    IGLOO_TRY(Own(file.get(), operation));
    // SECURITY: never a bit that gives a program its owner's id.
    if (::fchmod(file.get(), operation.mode & 0777) == 0) return {};
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot set the mode");
  }

  /// SECURITY: a directory on the way that has become a link since is never followed.
  UniqueFd Parent(const std::string& path) const {
    return OpenBeneath(project_.fd(), ParentOf(path), O_RDONLY | O_DIRECTORY);
  }

  /// False: the name is not what was expected, and stays.
  bool Do(const Operation& operation, std::size_t number) {
    const UniqueFd parent = Parent(operation.path);
    if (!parent) return false;
    const std::string name(NameIn(operation.path));
    switch (operation.kind) {
      case Operation::Kind::kRemove:
        return Remove(operation, parent.get(), name, OldName(number));
      case Operation::Kind::kRemoveDirectory:
        // One in which the host has something more stays.
        return ::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ||
               errno == ENOTEMPTY || errno == EEXIST;
      case Operation::Kind::kMakeDirectory:
        return MakeDirectory(operation, parent.get(), name);
      case Operation::Kind::kPut:
        return operation.expected ? Replace(operation, parent.get(), name, NewName(number))
                                  : Add(operation, parent.get(), name, NewName(number));
      case Operation::Kind::kMode:
        return SetMode(operation, parent.get(), name);
    }
    return false;
  }

  bool Remove(const Operation& operation, int parent, const std::string& name,
              const std::string& old) {
    if (!LookAt(staging_.get(), old)) {
      const auto now = LookAt(parent, name);
      if (!now) return true;
      if (!SameFile(*operation.expected, *now)) return false;
      if (::renameat2(parent, name.c_str(), staging_.get(), old.c_str(), RENAME_NOREPLACE) != 0) {
        return false;
      }
      Step("removed");
    }
    const auto taken = LookAt(staging_.get(), old);
    if (taken && SameFile(*operation.expected, *taken)) return true;
    // Somebody saved the file between the look and the move: theirs comes back.
    GiveBack(old, parent, name);
    return false;
  }

  bool Add(const Operation& operation, int parent, const std::string& name,
           const std::string& fresh) {
    const auto aside = LookAt(staging_.get(), fresh);
    if (!aside) return true;  // it is there already
    if (aside->inode != operation.staged_inode) return false;
    return ::renameat2(staging_.get(), fresh.c_str(), parent, name.c_str(), RENAME_NOREPLACE) == 0;
  }

  bool Replace(const Operation& operation, int parent, const std::string& name,
               const std::string& fresh) {
    auto aside = LookAt(staging_.get(), fresh);
    if (!aside) return true;  // over, and the old one removed
    if (aside->inode == operation.staged_inode) {
      const auto now = LookAt(parent, name);
      if (!now || !SameFile(*operation.expected, *now)) return false;
      if (!Exchange(parent, name, fresh)) return false;
      Step("exchanged");
      aside = LookAt(staging_.get(), fresh);
    }
    if (aside && SameFile(*operation.expected, *aside)) return true;
    // Somebody saved the file between the look and the exchange: theirs comes back.
    const auto ours = LookAt(parent, name);
    const bool back =
        ours && ours->inode == operation.staged_inode && Exchange(parent, name, fresh);
    if (!back && aside) GiveBack(fresh, parent, name);
    return false;
  }

  /// Puts what somebody saved to its name, or at least does not remove it.
  void GiveBack(const std::string& aside, int parent, const std::string& name) {
    if (::renameat2(staging_.get(), aside.c_str(), parent, name.c_str(), RENAME_NOREPLACE) != 0) {
      keep_.insert(aside);
    }
  }

  bool Exchange(int parent, const std::string& name, const std::string& fresh) const {
    return ::renameat2(staging_.get(), fresh.c_str(), parent, name.c_str(), RENAME_EXCHANGE) == 0;
  }

  bool MakeDirectory(const Operation& operation, int parent, const std::string& name) {
    if (::mkdirat(parent, name.c_str(), 0700) == 0) {
      Step("made a directory");
    } else {
      const auto there = LookAt(parent, name);
      if (!there || there->type != Type::kDirectory) return false;
      // This mode it has for the moment between being made and getting its own.
      if (there->mode != 0700) return true;
    }
    const UniqueFd fd = OpenBeneath(parent, name, O_RDONLY | O_DIRECTORY);
    return fd && Own(fd.get(), operation).has_value() &&
           ::fchmod(fd.get(), operation.mode & 0777) == 0;
  }

  static bool SetMode(const Operation& operation, int parent, const std::string& name) {
    const UniqueFd fd = OpenBeneath(parent, name, O_RDONLY | O_DIRECTORY);
    struct stat info{};
    if (!fd || ::fstat(fd.get(), &info) != 0) return false;
    return ::fchmod(fd.get(), (info.st_mode & 07000) | (operation.mode & 0777)) == 0;
  }

  Result<void> Sync() const {
    if (::syncfs(project_.fd()) == 0) return {};
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot write the project to its disk");
  }

  const Tree& project_;
  const AtStep& at_step_;
  UniqueFd staging_ = {};
  std::set<std::string> keep_ = {};  ///< what lies aside and is nobody else's copy
};

Result<void> Forget(const ChangeSet& set) {
  if (::unlink(JournalPlace(set).c_str()) == 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot remove the journal");
}

}  // namespace

Result<Left> Carry(const ChangeSet& set, const Tree& project, const Tree& upper,
                   std::vector<Operation> operations, const AtStep& at_step) {
  if (operations.empty()) return Left();
  Work work(project, at_step);
  Journal journal{.staging = ".igloo-apply-" + RandomName().substr(0, 16),
                  .operations = std::move(operations)};
  work.Step("begin the journal");
  IGLOO_TRY(Save(set, journal));
  auto staged = work.Stage(journal, upper);
  if (!staged) {
    (void)Recover(set);
    return std::unexpected(std::move(staged).error());
  }
  journal.phase = Phase::kMoving;
  work.Step("write the journal");
  IGLOO_TRY(Save(set, journal));
  IGLOO_ASSIGN(Left left, work.Move(journal));
  IGLOO_TRY(work.RemoveStaging(journal));
  work.Step("remove the journal");
  IGLOO_TRY(Forget(set));
  return left;
}

Result<Left> Recover(const ChangeSet& set) {
  if (::access(JournalPlace(set).c_str(), F_OK) != 0) return Left();
  IGLOO_ASSIGN(const std::string bytes, ReadFile(JournalPlace(set), kLargestJournal));
  IGLOO_ASSIGN(const Journal journal, Decode(bytes));
  IGLOO_ASSIGN(const Tree project, OpenProject(set));
  const AtStep none;
  Work work(project, none);
  Left left;
  if (project.Look(journal.staging)) {
    IGLOO_TRY(work.OpenStaging(journal));
    if (journal.phase == Phase::kMoving) {
      IGLOO_ASSIGN(left, work.Move(journal));
    }
    IGLOO_TRY(work.RemoveStaging(journal));
  }
  IGLOO_TRY(Forget(set));
  return left;
}

}  // namespace igloo::service::changes
