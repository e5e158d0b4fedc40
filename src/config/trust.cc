#include "config/trust.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace igloo::config {
namespace {

constexpr std::size_t kMaxEntry = 16U << 10;
constexpr std::size_t kDigestSize = 64;
constexpr std::string_view kProjectFile = "/igloo.toml";

bool IsDigest(std::string_view text) {
  return text.size() == kDigestSize &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// An entry is the digest, a newline, the directory and a newline; a directory may hold newlines.
std::optional<Trusted> ParseEntry(std::string_view text) {
  if (text.size() < kDigestSize + 3 || text[kDigestSize] != '\n' || !text.ends_with('\n')) {
    return std::nullopt;
  }
  Trusted trusted{.directory = std::string(text.substr(kDigestSize + 1)),
                  .digest = std::string(text.substr(0, kDigestSize))};
  trusted.directory.pop_back();
  if (!IsDigest(trusted.digest) || !trusted.directory.starts_with('/')) return std::nullopt;
  return trusted;
}

/// nullopt: there is no such entry.
Result<std::optional<Trusted>> ReadEntry(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) {
    const int saved_errno = errno;
    if (saved_errno == ENOENT || saved_errno == ENOTDIR) return std::nullopt;
    return FailSys(saved_errno, "cannot read what is trusted from '" + path + "'");
  }
  struct stat info{};
  // SECURITY: what somebody else could have written says nothing about what this user trusts.
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid() ||
      (info.st_mode & 022) != 0) {
    return Fail(Errc::kPermissionDenied, "'" + path + "' can be written by others",
                "remove it and trust the project again");
  }
  auto text = ReadAll(fd.get(), kMaxEntry);
  std::optional<Trusted> entry = text ? ParseEntry(*text) : std::nullopt;
  if (!entry) {
    return Fail(Errc::kFailedPrecondition, "'" + path + "' is damaged",
                "remove it and trust the project again");
  }
  return entry;
}

/// Where a project's file would be.
Result<ProjectFile> FindProjectFile(const std::string& directory) {
  ProjectFile file;
  std::error_code failure;
  file.directory = std::filesystem::canonical(directory, failure).string();
  if (failure) {
    return FailSys(failure.value(), "cannot find the project '" + directory + "'");
  }
  file.path = (file.directory == "/" ? "" : file.directory) + std::string(kProjectFile);
  return file;
}

}  // namespace

std::string TrustDirectory::EntryOf(const std::string& directory) const {
  return path_ + "/" + Sha256Hex(directory);
}

Result<std::optional<std::string>> TrustDirectory::Find(const std::string& directory) {
  const std::string path = EntryOf(directory);
  IGLOO_ASSIGN(const auto entry, ReadEntry(path));
  if (!entry) return std::nullopt;
  if (entry->directory != directory) {
    return Fail(Errc::kFailedPrecondition, "'" + path + "' is damaged",
                "remove it and trust the project again");
  }
  return entry->digest;
}

Result<void> TrustDirectory::Add(const Trusted& trusted) {
  IGLOO_TRY(OpenPrivateDirectory(path_, OwnLevels::kTwo));
  return ReplaceFile(EntryOf(trusted.directory), trusted.digest + "\n" + trusted.directory + "\n");
}

Result<bool> TrustDirectory::Remove(const std::string& directory) {
  const std::string path = EntryOf(directory);
  if (::unlink(path.c_str()) == 0) return true;
  const int saved_errno = errno;
  if (saved_errno == ENOENT || saved_errno == ENOTDIR) return false;
  return FailSys(saved_errno, "cannot remove '" + path + "'");
}

Result<std::vector<Trusted>> TrustDirectory::List() {
  std::vector<Trusted> all;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(path_, failure), end; !failure && at != end;
       at.increment(failure)) {
    // What is being written at this moment has a longer name.
    if (!IsDigest(at->path().filename().string())) continue;
    IGLOO_ASSIGN(auto entry, ReadEntry(at->path().string()));
    if (entry) all.push_back(*std::move(entry));
  }
  if (failure && failure != std::errc::no_such_file_or_directory) {
    return FailSys(failure.value(), "cannot read what is trusted from '" + path_ + "'");
  }
  std::ranges::sort(all, {}, &Trusted::directory);
  return all;
}

Result<ProjectFile> ReadProjectFile(const std::string& directory, TrustStore& store) {
  IGLOO_ASSIGN(ProjectFile file, FindProjectFile(directory));
  // SECURITY: a link could make a file of the user's part of what an error shows.
  auto text = ReadConfigFile(file.path, Links::kRefuse);
  if (!text) {
    const int saved_errno = text.error().sys_errno;
    if (saved_errno == ENOENT || saved_errno == ENOTDIR) return file;
    return std::unexpected(std::move(text).error());
  }
  file.text = *std::move(text);
  file.digest = Sha256Hex(file.text);
  IGLOO_ASSIGN(const auto trusted, store.Find(file.directory));
  file.trust = !trusted                  ? Trust::kUntrusted
               : *trusted == file.digest ? Trust::kTrusted
                                         : Trust::kChanged;
  return file;
}

Result<ProjectFile> ReadTrustedFile(const std::string& directory, TrustStore* store) {
  auto file = FindProjectFile(directory);
  struct stat info{};
  if (!file || ::lstat(file->path.c_str(), &info) != 0) return ProjectFile{};
  file->trust = Trust::kUntrusted;
  if (store == nullptr) return file;
  IGLOO_ASSIGN(const auto trusted, store->Find(file->directory));
  return trusted ? ReadProjectFile(directory, *store) : file;
}

Decoded DecodeProjectFile(const ProjectFile& file, std::span<const std::string_view> presets) {
  // No home: a project's file has no business there.
  return Decode(file.text, {.file = file.path,
                            .directory = file.directory,
                            .origin = Origin::kProject,
                            .presets = presets});
}

Result<Config> WithProject(Config user, const ProjectFile& file,
                           std::span<const std::string_view> presets) {
  if (file.trust != Trust::kTrusted) return user;
  Decoded decoded = DecodeProjectFile(file, presets);
  if (!decoded.problems.empty()) {
    return std::unexpected(ToError(file.path, decoded.problems[0]));
  }
  return Merge(std::move(user), decoded.config);
}

}  // namespace igloo::config
