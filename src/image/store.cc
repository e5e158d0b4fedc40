#include "image/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "base/temp_dir.h"
#include "base/text.h"
#include "image/unpacker.h"

namespace igloo::image {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRecord = 4U << 20;
constexpr std::string_view kPrefix = "sha256-";
constexpr std::string_view kWork = "igloo-";  // TempDir's

/// Changes with every change of a file; empty when there is none.
std::string StampOf(const Reference& reference) {
  if (reference.kind == Reference::Kind::kRegistry) return {};
  const bool layout = reference.kind == Reference::Kind::kLayout;
  const std::string path = reference.path + (layout ? "/index.json" : "");
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return {};
  std::string stamp;
  for (const auto part :
       {static_cast<long long>(info.st_dev), static_cast<long long>(info.st_ino),
        static_cast<long long>(info.st_size), static_cast<long long>(info.st_mtim.tv_sec),
        static_cast<long long>(info.st_mtim.tv_nsec), static_cast<long long>(info.st_ctim.tv_sec),
        static_cast<long long>(info.st_ctim.tv_nsec)}) {
    stamp += (stamp.empty() ? "" : ".") + std::to_string(part);
  }
  return stamp;
}

Result<UniqueFd> Open(const std::string& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (fd) return fd;
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot open '" + Printable(path) + "'");
}

Result<void> Make(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot make '" + path + "'");
}

/// The layout that an archive holds, in `work`.
Result<UniqueFd> OpenArchive(const std::string& path, const std::string& work,
                             const std::string& program) {
  IGLOO_ASSIGN(const UniqueFd archive, Open(path, O_RDONLY));
  struct stat info{};
  if (::fstat(archive.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(path) + "' is no archive",
                "for a directory write oci:PATH");
  }
  const std::string layout = work + "/layout";
  IGLOO_TRY(Make(layout));
  IGLOO_ASSIGN(UniqueFd directory, Open(layout, O_RDONLY | O_DIRECTORY));
  IGLOO_TRY(RunUnpacker(program, {"extract"}, archive.get(), directory.get()));
  return directory;
}

}  // namespace

std::string Store::PlaceOf(const std::string& digest) const {
  return directory_ + "/" + std::string(kPrefix) + digest;
}

Result<void> Store::MakeDirectory() const {
  // SECURITY: an image may hold secrets, and others could lock or replace what is in here.
  IGLOO_TRY(OpenPrivateDirectory(directory_, OwnLevels::kTwo));
  return {};
}

Result<UniqueFd> Store::Lock() const {
  IGLOO_TRY(MakeDirectory());
  UniqueFd lock(::open((directory_ + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  int status = -1;
  while (lock && (status = ::flock(lock.get(), LOCK_EX)) != 0 && errno == EINTR) {
  }
  if (status == 0) return lock;
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot lock '" + Printable(directory_) + "'");
}

Result<Names> Store::ReadNames() const {
  const std::string path = directory_ + "/names.json";
  const auto text = ReadFile(path, kMaxRecord);
  if (!text && text.error().sys_errno == ENOENT) return Names{};
  if (!text) return std::unexpected(text.error());
  auto names = ParseNames(*text);
  if (!names) return Wrap("'" + Printable(path) + "'", std::move(names).error());
  return names;
}

Result<void> Store::WriteNames(const Names& names) const {
  return ReplaceFile(directory_ + "/names.json", ToJson(names));
}

Result<Image> Store::ReadImage(const std::string& digest) const {
  const std::string place = PlaceOf(digest);
  IGLOO_ASSIGN(const std::string text, ReadFile(place + "/image.json", kMaxRecord));
  auto record = ParseRecord(text);
  if (!record) return Wrap("'" + Printable(place) + "'", std::move(record).error());
  return Image{.root = place + "/rootfs", .record = *std::move(record)};
}

Result<std::optional<Image>> Store::Look(const Reference& reference) const {
  IGLOO_ASSIGN(const Names names, ReadNames());
  const auto found = names.all.find(ToText(reference));
  if (found == names.all.end()) return std::nullopt;
  // Where there is nothing any more, what was unpacked is all there is.
  const std::string stamp = StampOf(reference);
  if (!stamp.empty() && stamp != found->second.stamp) return std::nullopt;
  auto image = ReadImage(found->second.digest);
  if (!image && image.error().sys_errno == ENOENT) return std::nullopt;
  if (!image) return std::unexpected(std::move(image).error());
  return *std::move(image);
}

Result<Image> Store::Add(const Reference& reference, const std::string& program) const {
  IGLOO_ASSIGN(const UniqueFd lock, Lock());
  RemoveLeftovers();
  // Somebody else may have been first.
  IGLOO_ASSIGN(auto there, Look(reference));
  if (there) return *std::move(there);
  return AddLocked(reference, reference.path, program);
}

Result<Image> Store::AddFetched(const Reference& reference, const Fetch& fetch,
                                const std::string& program) const {
  IGLOO_ASSIGN(const UniqueFd lock, Lock());
  RemoveLeftovers();
  IGLOO_ASSIGN(const TempDir work, TempDir::Make(directory_));
  const std::string layout = work.path() + "/layout";
  IGLOO_TRY(fetch(layout));
  return AddLocked(reference, layout, program);
}

Result<Image> Store::AddLocked(const Reference& reference, const std::string& layout,
                               const std::string& program) const {
  IGLOO_ASSIGN(const TempDir work, TempDir::Make(directory_));
  // Before anything is read, so that a change while it is read is noticed the next time.
  const std::string stamp = StampOf(reference);
  const bool archive = reference.kind == Reference::Kind::kArchive;
  IGLOO_ASSIGN(const UniqueFd source, archive ? OpenArchive(layout, work.path(), program)
                                              : Open(layout, O_RDONLY | O_DIRECTORY));
  std::vector<std::string> words = {"inspect"};
  if (!reference.tag.empty()) words.push_back(reference.tag);
  IGLOO_ASSIGN(const Record found, RunUnpacker(program, words, source.get(), -1));
  auto image = ReadImage(found.digest);
  if (!image) image = Unpack(source.get(), found, reference, work.path(), program);
  if (!image) return image;
  IGLOO_ASSIGN(Names names, ReadNames());
  names.all[ToText(reference)] = {found.digest, stamp};
  IGLOO_TRY(WriteNames(names));
  return image;
}

Result<Image> Store::Unpack(int layout, const Record& found, const Reference& reference,
                            const std::string& work, const std::string& program) const {
  const std::string made = work + "/image", root = made + "/rootfs";
  IGLOO_TRY(Make(made));
  IGLOO_TRY(Make(root));
  IGLOO_ASSIGN(const UniqueFd target, Open(root, O_RDONLY | O_DIRECTORY));
  std::vector<std::string> words = {"unpack"};
  if (!reference.tag.empty()) words.push_back(reference.tag);
  std::string answer;
  IGLOO_ASSIGN(const Record record, RunUnpacker(program, words, layout, target.get(), &answer));
  if (record.digest != found.digest) {
    return Fail(Errc::kFailedPrecondition, "the image changed while it was unpacked",
                "try again when nobody writes to it");
  }
  IGLOO_TRY(ReplaceFile(made + "/image.json", answer));
  // A crash leaves the whole image or none.
  ::syncfs(target.get());
  const std::string place = PlaceOf(record.digest);
  std::error_code ignored;
  fs::remove_all(place, ignored);  // one without a record is none
  if (::rename(made.c_str(), place.c_str()) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot put the image into '" + Printable(place) + "'");
  }
  return ReadImage(record.digest);
}

/// What a process left that was killed: whoever has the lock is alone.
void Store::RemoveLeftovers() const {
  std::error_code error;
  for (fs::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (at->path().filename().native().starts_with(kWork)) fs::remove_all(at->path(), ignored);
  }
}

Result<UniqueFd> Store::Hold(const Image& image) {
  const std::string file = fs::path(image.root).parent_path().string() + "/image.json";
  IGLOO_ASSIGN(UniqueFd fd, Open(file, O_RDONLY));
  struct stat info{};
  // A remover has the lock until nothing is left.
  const bool held = ::flock(fd.get(), LOCK_SH) == 0 && ::fstat(fd.get(), &info) == 0;
  if (held && info.st_nlink > 0) return fd;
  return Fail(Errc::kNotFound, "the image was removed a moment ago", "pull it again");
}

Result<void> Store::RemoveImage(const std::string& digest) const {
  const std::string place = PlaceOf(digest);
  const UniqueFd record(::open((place + "/image.json").c_str(), O_RDONLY | O_CLOEXEC));
  if (record && ::flock(record.get(), LOCK_EX | LOCK_NB) != 0) {
    return Fail(Errc::kFailedPrecondition, "the image sha256:" + digest + " is in use",
                "end the sandboxes and servers that use it");
  }
  IGLOO_ASSIGN(const TempDir work, TempDir::Make(directory_));
  if (::rename(place.c_str(), (work.path() + "/image").c_str()) != 0 && errno != ENOENT) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot remove '" + Printable(place) + "'");
  }
  return {};
}

Result<std::vector<Store::Stored>> Store::List() const {
  IGLOO_ASSIGN(const Names names, ReadNames());
  std::vector<Stored> list;
  std::error_code error;
  for (fs::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    if (!name.starts_with(kPrefix) || !IsDigest(name.substr(kPrefix.size()))) continue;
    Stored stored{.digest = name.substr(kPrefix.size())};
    if (const auto image = ReadImage(stored.digest)) stored.bytes = image->record.bytes;
    for (const auto& [each, entry] : names.all) {
      if (entry.digest == stored.digest) stored.names.push_back(each);
    }
    const UniqueFd record(::open((at->path() / "image.json").c_str(), O_RDONLY | O_CLOEXEC));
    stored.in_use = record && ::flock(record.get(), LOCK_EX | LOCK_NB) != 0;
    list.push_back(std::move(stored));
  }
  std::ranges::sort(list, {}, &Stored::digest);
  return list;
}

Result<bool> Store::Remove(const Reference& reference) const {
  if (::access(directory_.c_str(), F_OK) != 0) return false;
  IGLOO_ASSIGN(const UniqueFd lock, Lock());
  IGLOO_ASSIGN(Names names, ReadNames());
  const auto found = names.all.find(ToText(reference));
  if (found == names.all.end()) return false;
  const std::string digest = found->second.digest;
  names.all.erase(found);
  const bool shared = std::ranges::any_of(
      names.all, [&](const auto& each) { return each.second.digest == digest; });
  if (!shared) IGLOO_TRY(RemoveImage(digest));
  IGLOO_TRY(WriteNames(names));
  return true;
}

Result<std::vector<std::string>> Store::Collect(const std::set<std::string>& wanted) const {
  std::vector<std::string> gone;
  if (::access(directory_.c_str(), F_OK) != 0) return gone;
  IGLOO_ASSIGN(const UniqueFd lock, Lock());
  RemoveLeftovers();
  IGLOO_ASSIGN(Names names, ReadNames());
  std::erase_if(names.all, [&](const auto& each) {
    const bool pulled = each.second.stamp.empty();
    return !pulled && !wanted.contains(each.first);
  });
  IGLOO_ASSIGN(const auto list, List());
  for (const Stored& each : list) {
    const bool named = std::ranges::any_of(
        names.all, [&](const auto& name) { return name.second.digest == each.digest; });
    if (named || each.in_use) continue;
    IGLOO_TRY(RemoveImage(each.digest));
    gone.push_back(each.digest);
  }
  IGLOO_TRY(WriteNames(names));
  return gone;
}

}  // namespace igloo::image
