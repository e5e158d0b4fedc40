#include "service/changes/contents.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "service/changes/journal.h"
#include "service/changes/repository.h"

namespace igloo::service::changes {
namespace {

constexpr std::size_t kLargestRecord = 2UL << 30, kLargestIndex = 1UL << 30;

std::unexpected<Error> Unknown(const std::string& path) {
  return Fail(Errc::kNotFound,
              "nobody knows any more what '" + Printable(path) + "' was when the changes began");
}

/// As many bytes as there are, up to the buffer's size.
Result<std::size_t> Fill(int fd, std::array<char, 65536>& buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t count = ::read(fd, buffer.data() + filled, buffer.size() - filled);
    if (count == 0) break;
    if (count < 0) {
      const int saved_errno = errno;
      if (saved_errno == EINTR) continue;
      return FailSys(saved_errno, "cannot read");
    }
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

}  // namespace

Result<bool> SameBytes(int a, int b) {
  std::array<char, 65536> left, right;
  for (;;) {
    IGLOO_ASSIGN(const std::size_t size, Fill(a, left));
    IGLOO_ASSIGN(const std::size_t other, Fill(b, right));
    if (size != other || std::memcmp(left.data(), right.data(), size) != 0) return false;
    if (size < left.size()) return true;
  }
}

Result<Tree> OpenProject(const ChangeSet& set) {
  auto project = Tree::Open(set.project);
  struct stat info{};
  const bool same = project && ::fstat(project->fd(), &info) == 0 && info.st_dev == set.device &&
                    info.st_ino == set.inode;
  if (!same) {
    return Fail(
        Errc::kFailedPrecondition,
        "the project of '" + set.name + "' is no longer at '" + Printable(set.project) + "'",
        "put it back, or give the changes up: igloo discard " + set.name);
  }
  IGLOO_TRY(project->OpenFilesAsOwner());
  return project;
}

Result<Contents> Contents::Open(const ChangeSet& set) {
  IGLOO_TRY(Recover(set));
  IGLOO_ASSIGN(Tree project, OpenProject(set));
  IGLOO_ASSIGN(Tree upper, Tree::Open(set.place + "/layer/upper"));
  IGLOO_ASSIGN(const std::string bytes, ReadFile(set.place + "/base", kLargestRecord));
  Contents contents(set, std::move(project), std::move(upper));
  IGLOO_ASSIGN(contents.base_, DecodeBase(bytes));
  return contents;
}

Result<Git> GitOf(const ChangeSet& set) {
  IGLOO_ASSIGN(const Repository repository, Repository::Open(set));
  return Git::For(repository.host().fd(), repository.path());
}

bool Contents::IsUntouched(const std::string& path) const {
  const Node* before = base_.Find(path);
  const auto now = project_.Look(path);
  return before != nullptr && now && Untouched(*before, *now);
}

Result<std::string> Contents::ReadNode(const Tree& tree, const std::string& path) {
  const auto node = tree.Look(path);
  if (node && node->type == Type::kLink) return tree.ReadLink(path);
  return tree.Read(path, kLargestText);
}

Result<std::string> Contents::Before(const std::string& path) const {
  const Node* node = base_.Find(path);
  if (node == nullptr) return Unknown(path);
  if (!IsUntouched(path)) return FromGit(path, *node);
  auto bytes = ReadNode(project_, path);
  // Somebody may have written to it while it was read.
  if (bytes && !IsUntouched(path)) return FromGit(path, *node);
  return bytes;
}

Result<std::string> Contents::FromGit(const std::string& path, const Node& node) const {
  if (!has_git() || node.size > kLargestText) return Unknown(path);
  if (!index_) {
    const std::string place = set_.place + "/index";
    struct stat info{};
    if (::stat(place.c_str(), &info) != 0) return Unknown(path);
    IGLOO_ASSIGN(const std::string bytes, ReadFile(place, kLargestIndex));
    index_ = GitIndex::Decode(bytes, set_.name_size, NodeOf(info).modified);
  }
  const auto object = index_->ObjectOf(path, node);
  if (!object) return Unknown(path);
  if (!git_) {
    IGLOO_ASSIGN(git_, GitOf(set_));
  }
  if (!scratch_) {
    IGLOO_ASSIGN(
        ScratchRepository scratch,
        ScratchRepository::Make(*git_, set_.place, set_.name_size == 32 ? "sha256" : "sha1"));
    scratch_.emplace(std::move(scratch));
  }
  auto bytes = git_->Run({.repository = scratch_->path(), .args = {"cat-file", "blob", *object}});
  // Filters, such as those for line ends, make other files from objects.
  if (!bytes || bytes->size() != node.size) return Unknown(path);
  return bytes;
}

}  // namespace igloo::service::changes
