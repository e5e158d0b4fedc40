#include "service/changes/commits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "service/changes/git.h"
#include "service/changes/repository.h"

namespace igloo::service::changes {
namespace {

constexpr std::size_t kMostRefs = 1000, kMostObjects = 1'000'000;
constexpr std::uint64_t kMostBytes = 4ULL << 30;
constexpr std::string_view kHeads = "refs/heads/";

bool IsHex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

/// Branches inside, from the upper layer alone.
class Refs {
 public:
  Refs(const Repository& repository, std::size_t digits)
      : repository_(repository), upper_(repository.upper()), digits_(digits) {}

  std::map<std::string, std::string> Read() {
    ReadPacked();
    heads_ = repository_.Inside("refs/heads");
    ReadLoose(heads_, 0);
    return std::move(refs_);
  }

 private:
  void Add(std::string_view name, std::string_view object) {
    const bool fits = object.size() == digits_ && IsHex(object) && name.size() < 256;
    if (fits && refs_.size() < kMostRefs) refs_[std::string(name)] = object;
  }

  void ReadPacked() {
    const auto text = upper_.Read(repository_.Inside("packed-refs"), 4U << 20);
    if (!text) return;
    for (std::string_view rest = *text; !rest.empty();) {
      const std::string_view line = FirstLine(rest);
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      const std::size_t space = line.find(' ');
      if (space == std::string_view::npos || line.starts_with('#')) continue;
      const std::string_view name = line.substr(space + 1);
      if (name.starts_with(kHeads)) Add(name.substr(kHeads.size()), line.substr(0, space));
    }
  }

  void ReadLoose(const std::string& place, std::size_t depth) {
    const auto directory = upper_.OpenDirectory(place);
    if (!directory || depth > 16) return;
    (void)EachName(directory->get(), [&](const char* name) -> Result<void> {
      if (++seen_ > kMostObjects) return Fail(Errc::kExhausted, "too many refs");
      const std::string path = place + "/" + name;
      const auto node = upper_.Look(path);
      if (node && node->type == Type::kDirectory) ReadLoose(path, depth + 1);
      if (node && node->type == Type::kFile) {
        const auto text = upper_.Read(path, 1024);
        if (text) Add(path.substr(heads_.size() + 1), FirstLine(*text));
      }
      return {};
    });
  }

  const Repository& repository_;
  const Tree& upper_;
  std::size_t digits_, seen_ = 0;
  std::string heads_ = {};
  std::map<std::string, std::string> refs_ = {};
};

/// The end of a branch's name, whatever it was called inside.
std::string SafeName(std::string_view branch) {
  std::string name;
  for (const char c : branch) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
    name += fine ? c : '-';
  }
  return name;
}

std::string HeadInside(const Contents& contents, const Repository& repository) {
  const auto head = repository.upper().Read(repository.HeadInside(), 4096);
  return head ? std::string(FirstLine(*head)) : contents.set().head;
}

/// Where the project's branches, tags and remote branches are now.
Result<std::set<std::string>> HostObjects(const Git& git) {
  IGLOO_ASSIGN(const std::string text,
               git.Run({.repository = git.path(),
                        .args = {"for-each-ref", "--format=%(objectname)", "refs/heads",
                                 "refs/tags", "refs/remotes"}}));
  std::set<std::string> objects;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = FirstLine(rest);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    objects.emplace(line);
  }
  return objects;
}

/// In the scratch repository, with the rights of the user whom git acts as.
Result<UniqueFd> NewFile(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file) return file;
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot write '" + Printable(path) + "'");
}

/// Copies objects out of the upper layer, as plain bytes.
class ObjectCopy {
 public:
  ObjectCopy(const Repository& repository, std::size_t digits, const Git& git,
             const std::string& scratch)
      : upper_(repository.upper()),
        objects_(repository.Inside("objects")),
        digits_(digits),
        git_(git),
        scratch_(scratch) {}

  Result<void> All() {
    const auto objects = upper_.OpenDirectory(objects_);
    if (!objects) return {};
    return EachName(objects->get(), [&](const char* name) -> Result<void> {
      const std::string place = objects_ + "/" + name;
      if (std::string_view(name) == "pack") return Packs(place);
      return std::string_view(name).size() == 2 && IsHex(name) ? Loose(place, name)
                                                               : Result<void>();
    });
  }

 private:
  Result<void> Count(std::uint64_t bytes) {
    bytes_ += bytes;
    if (++count_ <= kMostObjects && bytes_ <= kMostBytes) return {};
    return Fail(Errc::kExhausted, "the commits have more than a million objects or 4 GB");
  }

  Result<void> Loose(const std::string& place, const std::string& first) {
    const auto directory = upper_.OpenDirectory(place);
    if (!directory) return {};
    return EachName(directory->get(), [&](const char* name) -> Result<void> {
      if (std::string_view(name).size() != digits_ - 2 || !IsHex(name)) return {};
      const std::string path = place + "/" + name;
      const auto node = upper_.Look(path);
      if (!node || node->type != Type::kFile) return {};
      IGLOO_TRY(Count(node->size));
      IGLOO_ASSIGN(const std::string bytes, upper_.Read(path, kLargestObject));
      return Write(first, name, bytes);
    });
  }

  Result<void> Write(const std::string& first, const std::string& name,
                     const std::string& bytes) const {
    IGLOO_ASSIGN(const auto rights, git_.user().TakeRights());
    const std::string directory = scratch_ + "/objects/" + first;
    ::mkdir(directory.c_str(), S_IRWXU);
    IGLOO_ASSIGN(const UniqueFd file, NewFile(directory + "/" + name));
    return WriteAll(file.get(), bytes);
  }

  /// Git makes the index of each anew, and looks at every object in it.
  Result<void> Packs(const std::string& place) {
    const auto directory = upper_.OpenDirectory(place);
    if (!directory) return {};
    return EachName(directory->get(), [&](const char* name) -> Result<void> {
      const std::string path = place + "/" + name;
      const auto node = upper_.Look(path);
      const bool pack = std::string_view(name).ends_with(".pack");
      if (!pack || !node || node->type != Type::kFile) return {};
      IGLOO_TRY(Count(node->size));
      IGLOO_ASSIGN(const UniqueFd file, upper_.OpenFile(path));
      IGLOO_TRY(
          git_.Run({.repository = scratch_, .args = {"index-pack", "--stdin"}}, file.get(), -1));
      return {};
    });
  }

  static constexpr std::size_t kLargestObject = 512U << 20;
  const Tree& upper_;
  const std::string objects_;
  std::size_t digits_;
  const Git& git_;
  const std::string& scratch_;
  std::size_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

Result<UniqueFd> NewPack(const Git& git, const std::string& scratch) {
  IGLOO_ASSIGN(const auto rights, git.user().TakeRights());
  return NewFile(scratch + "/passed.pack");
}

/// A pack of what the project lacks, checked and put into it.
Result<void> Pass(const Git& git, const std::string& scratch, const std::vector<Tip>& tips) {
  IGLOO_ASSIGN(const auto known, HostObjects(git));
  std::string wanted;
  for (const Tip& tip : tips) wanted += tip.object + "\n";
  for (const std::string& object : known) wanted += "^" + object + "\n";
  IGLOO_ASSIGN(const UniqueFd pack, NewPack(git, scratch));
  IGLOO_TRY(git.Run(
      {.repository = scratch,
       .args = {"pack-objects", "--revs", "--stdout", "--thin", "--quiet", "--delta-base-offset"},
       .input = wanted},
      -1, pack.get()));
  ::lseek(pack.get(), 0, SEEK_SET);
  IGLOO_TRY(git.Run({.repository = scratch,
                     .args = {"index-pack", "--stdin", "--fix-thin", "--strict", "--fsck-objects"},
                     .variables = {"GIT_OBJECT_DIRECTORY=" + git.path() + "/objects"}},
                    pack.get(), -1));
  return {};
}

Result<void> Point(const Git& git, const std::string& name, const Tip& tip) {
  const std::string ref = std::string(kHeads) + tip.arrives_as;
  const std::string nothing(tip.object.size(), '0');
  auto made =
      git.Run({.repository = git.path(),
               .args = {"update-ref", "-m", "igloo apply " + name, ref, tip.object, nothing},
               .variables = {"GIT_COMMITTER_NAME=igloo", "GIT_COMMITTER_EMAIL=igloo@localhost"}});
  if (!made) {
    Error error = std::move(made).error();
    error.hint = "if there is a branch '" + tip.arrives_as + "' already: git branch -m " +
                 tip.arrives_as + " ANOTHER-NAME";
    return std::unexpected(std::move(error));
  }
  return {};
}

}  // namespace

Result<std::vector<Tip>> NewTips(const Contents& contents) {
  std::vector<Tip> tips;
  if (!contents.has_git()) return tips;
  IGLOO_ASSIGN(const Repository repository, Repository::Open(contents.set()));
  const std::size_t digits = contents.set().name_size * 2;
  std::map<std::string, std::string> refs = Refs(repository, digits).Read();
  const std::string head = HeadInside(contents, repository);
  constexpr std::string_view kTo = "ref: refs/heads/";
  const std::string current = head.starts_with(kTo) ? head.substr(kTo.size()) : "HEAD";
  const bool detached = head.size() == digits && IsHex(head);
  if (detached && head != contents.set().head) refs["HEAD"] = head;
  if (refs.empty()) return tips;
  IGLOO_ASSIGN(const Git git, GitOf(contents.set()));
  IGLOO_ASSIGN(const auto known, HostObjects(git));
  const std::string own = "igloo/" + contents.set().name;
  std::set<std::string> names;
  for (const auto& [branch, object] : refs) {
    if (known.contains(object)) continue;
    std::string as = branch == current ? own : own + "." + SafeName(branch);
    while (!names.insert(as).second) as += "-";
    tips.push_back({.branch = branch, .object = object, .arrives_as = std::move(as)});
  }
  return tips;
}

Result<void> BringCommits(const Contents& contents, const std::vector<Tip>& tips) {
  if (tips.empty()) return {};
  IGLOO_ASSIGN(const Git git, GitOf(contents.set()));
  for (const Tip& tip : tips) IGLOO_TRY(git.CheckBranch(tip.arrives_as));
  const ChangeSet& set = contents.set();
  IGLOO_ASSIGN(const Repository repository, Repository::Open(set));
  IGLOO_ASSIGN(const ScratchRepository scratch,
               ScratchRepository::Make(git, set.place, set.name_size == 32 ? "sha256" : "sha1"));
  // Without it, git would look for the parents of commits that the project does not have.
  if (const auto shallow = repository.host().Read("shallow", 4U << 20)) {
    IGLOO_ASSIGN(const auto rights, git.user().TakeRights());
    IGLOO_TRY(ReplaceFile(scratch.path() + "/shallow", *shallow));
  }
  IGLOO_TRY(ObjectCopy(repository, set.name_size * 2, git, scratch.path()).All());
  IGLOO_TRY(Pass(git, scratch.path(), tips));
  for (const Tip& tip : tips) IGLOO_TRY(Point(git, set.name, tip));
  return {};
}

}  // namespace igloo::service::changes
