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
#include "base/text.h"
#include "service/changes/copy_bytes.h"
#include "service/changes/journal_record.h"

namespace igloo::service::changes {
namespace {

std::string NewName(std::size_t number) { return std::to_string(number); }
std::string OldName(std::size_t number) { return std::to_string(number) + ".old"; }

std::optional<Node> LookAt(int directory, const std::string& name) {
  struct stat info{};
  if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return NodeOf(info);
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
    IGLOO_TRY(CheckRoom(project_, upper, journal.operations));
    IGLOO_TRY(MakeStaging(journal));
    for (std::size_t i = 0; i < journal.operations.size(); ++i) {
      Operation& each = journal.operations[i];
      const bool directory = each.kind == Operation::Kind::kMakeDirectory;
      if (each.kind != Operation::Kind::kPut && !directory) continue;
      Step("write aside");
      const std::string name = NewName(i);
      if (auto written = directory ? WriteDirectory(each, name) : Write(each, name, upper);
          !written) {
        return Wrap("'" + Printable(each.path) + "'", std::move(written).error());
      }
      const auto node = LookAt(staging_.get(), name);
      if (!node) return Fail(Errc::kInternal, "what was written aside is gone");
      each.staged_inode = node->inode;
    }
    return Sync();
  }

  /// Also after a crash: what has happened already is recognised.
  Result<Left> Move(const Journal& journal) {
    IGLOO_ASSIGN(const auto rights, project_.user().TakeRights());
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
    IGLOO_ASSIGN(const auto rights, project_.user().TakeRights());
    for (std::size_t i = 0; i < journal.operations.size(); ++i) {
      for (const std::string& name : {NewName(i), OldName(i)}) {
        if (keep_.contains(name) || !LookAt(staging_.get(), name)) continue;
        Step("remove what lies aside");
        if (::unlinkat(staging_.get(), name.c_str(), 0) == 0) continue;
        ::unlinkat(staging_.get(), name.c_str(), AT_REMOVEDIR);
      }
    }
    if (!keep_.empty()) return {};
    Step("remove the staging directory");
    if (::unlinkat(project_.fd(), journal.staging.c_str(), AT_REMOVEDIR) == 0) return {};
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot remove '" + journal.staging + "' from the project",
                   "look at what is in it");
  }

 private:
  Result<void> MakeStaging(const Journal& journal) {
    IGLOO_ASSIGN(const auto rights, project_.user().TakeRights());
    if (::mkdirat(project_.fd(), journal.staging.c_str(), 0700) == 0) return OpenStaging(journal);
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot write to the project",
                   "whoever applies changes must own the project");
  }

  /// In a project of root's, root writes for whoever owns the file, or the directory around it.
  /// SECURITY: what is given away lies in the staging directory, where only root can write.
  Result<void> Own(int fd, const Operation& operation) const {
    struct stat like{}, now{};
    if (::geteuid() != 0 || !LikeWhat(operation, like)) return {};
    if (::fstat(fd, &now) == 0 && now.st_uid == like.st_uid && now.st_gid == like.st_gid) return {};
    // In somebody else's project it belongs to that user already. The old file's group may stay.
    if (project_.user().other()) {
      if (operation.expected && !operation.link) (void)::fchown(fd, -1, like.st_gid);
      return {};
    }
    if (::fchownat(fd, "", like.st_uid, like.st_gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0) {
      return {};
    }
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot keep the owner");
  }

  /// The file that is replaced, or else the nearest directory that is there.
  bool LikeWhat(const Operation& operation, struct stat& like) const {
    UniqueFd found;
    if (operation.expected && operation.expected->type != Type::kDirectory) {
      found = OpenBeneath(project_.fd(), operation.path, O_PATH);
    }
    for (std::string path = operation.path; !found && !path.empty();) {
      path = ParentOf(path);
      found = OpenBeneath(project_.fd(), path, O_PATH | O_DIRECTORY);
    }
    return found && ::fstat(found.get(), &like) == 0;
  }

  Result<void> WriteDirectory(const Operation& operation, const std::string& name) const {
    IGLOO_ASSIGN(const auto rights, project_.user().TakeRights());
    const bool made = ::mkdirat(staging_.get(), name.c_str(), 0700) == 0;
    const UniqueFd fd =
        made ? OpenBeneath(staging_.get(), name, O_RDONLY | O_DIRECTORY) : UniqueFd();
    if (!fd) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot make a directory");
    }
    IGLOO_TRY(Own(fd.get(), operation));
    return SetModeOf(fd.get(), operation);
  }

  Result<void> WriteLink(const Operation& operation, const std::string& name) const {
    IGLOO_ASSIGN(const auto rights, project_.user().TakeRights());
    if (::symlinkat(operation.content->c_str(), staging_.get(), name.c_str()) != 0) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot make a link");
    }
    const UniqueFd link = OpenBeneath(staging_.get(), name, O_PATH);
    return Own(link.get(), operation);
  }

  Result<UniqueFd> NewFile(const std::string& name) const {
    IGLOO_ASSIGN(const auto rights, project_.user().TakeRights());
    UniqueFd file =
        OpenBeneath(staging_.get(), name, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (file) return file;
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot write");
  }

  Result<void> Write(const Operation& operation, const std::string& name, const Tree& upper) const {
    if (operation.link) return WriteLink(operation, name);
    IGLOO_ASSIGN(const UniqueFd file, NewFile(name));
    if (operation.content) {
      IGLOO_TRY(WriteAll(file.get(), *operation.content));
    } else {
      IGLOO_ASSIGN(const UniqueFd from, upper.OpenFile(operation.path));
      IGLOO_TRY(CopyBytes(from.get(), file.get()));
    }
    IGLOO_TRY(Own(file.get(), operation));
    return SetModeOf(file.get(), operation);
  }

  static Result<void> SetModeOf(int fd, const Operation& operation) {
    // SECURITY: never a bit that gives a program its owner's id.
    if (::fchmod(fd, operation.mode & 0777) == 0) return {};
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
        return AddDirectory(operation, parent.get(), name, NewName(number));
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
           const std::string& fresh) const {
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

  bool AddDirectory(const Operation& operation, int parent, const std::string& name,
                    const std::string& fresh) const {
    if (Add(operation, parent, name, fresh)) return true;
    const auto there = LookAt(parent, name);
    return there && there->type == Type::kDirectory;
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

}  // namespace

Result<Left> Carry(const ChangeSet& set, const Tree& project, const Tree& upper,
                   std::vector<Operation> operations, const AtStep& at_step) {
  if (operations.empty()) return Left();
  Work work(project, at_step);
  Journal journal{.staging = ".igloo-apply-" + RandomName().substr(0, 16),
                  .operations = std::move(operations)};
  work.Step("begin the journal");
  IGLOO_TRY(SaveJournal(set, journal));
  auto staged = work.Stage(journal, upper);
  if (!staged) {
    (void)Recover(set);
    return std::unexpected(std::move(staged).error());
  }
  journal.phase = Phase::kMoving;
  work.Step("write the journal");
  IGLOO_TRY(SaveJournal(set, journal));
  IGLOO_ASSIGN(Left left, work.Move(journal));
  IGLOO_TRY(work.RemoveStaging(journal));
  work.Step("remove the journal");
  IGLOO_TRY(RemoveJournal(set));
  return left;
}

Result<Left> Recover(const ChangeSet& set) {
  IGLOO_ASSIGN(const auto found, LoadJournal(set));
  if (!found) return Left();
  const Journal& journal = *found;
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
  IGLOO_TRY(RemoveJournal(set));
  return left;
}

}  // namespace igloo::service::changes
