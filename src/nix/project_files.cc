#include "nix/project_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace igloo::nix {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 1000;
constexpr std::size_t kMostBytes = 4U << 20;
constexpr int kMostDepth = 8;
constexpr int kOpen = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/// Reads a project by descriptors: code that may write to it could exchange any name for a link.
class Reader {
 public:
  Result<void> ReadTop(const std::string& path) {
    const UniqueFd top(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
    if (!top) {
      const int saved_errno = errno;
      if (saved_errno == ENOENT || saved_errno == ENOTDIR) return {};
      return FailSys(saved_errno, "cannot open '" + Printable(path) + "'");
    }
    for (const std::string& name : NamesIn(top.get())) {
      const bool wanted = name.ends_with(".nix") || name == "flake.lock";
      if (wanted) IGLOO_TRY(Take(top.get(), name, name));
    }
    return ReadBelow(top.get(), "nix", "nix", 0);
  }

  ProjectFiles&& files() && { return std::move(files_); }

 private:
  static std::vector<std::string> NamesIn(int directory) {
    std::vector<std::string> names;
    std::error_code failure;
    const fs::path path = "/proc/self/fd/" + std::to_string(directory);
    for (fs::directory_iterator at(path, failure), end; !failure && at != end;
         at.increment(failure)) {
      names.push_back(at->path().filename().native());
    }
    return names;
  }

  Result<void> ReadBelow(int parent, const std::string& name, const std::string& shown, int depth) {
    const UniqueFd directory(::openat(parent, name.c_str(), kOpen | O_DIRECTORY));
    if (!directory) return {};
    if (depth == kMostDepth) return TooMuch("'" + shown + "' is nested too deeply");
    for (const std::string& each : NamesIn(directory.get())) {
      const std::string whole = shown + "/" + each;
      struct stat info{};
      if (::fstatat(directory.get(), each.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (S_ISDIR(info.st_mode)) {
        IGLOO_TRY(ReadBelow(directory.get(), each, whole, depth + 1));
      } else if (S_ISREG(info.st_mode)) {
        IGLOO_TRY(Take(directory.get(), each, whole));
      }
    }
    return {};
  }

  Result<void> Take(int directory, const std::string& name, const std::string& shown) {
    const UniqueFd fd(::openat(directory, name.c_str(), kOpen));
    struct stat info{};
    if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
    auto text = ReadAll(fd.get(), kMostBytes - bytes_);
    if (!text) return Wrap("'" + Printable(shown) + "'", std::move(text).error());
    bytes_ += text->size();
    if (files_.size() == kMostFiles) return TooMuch("it has more than 1000 of them");
    files_.emplace(shown, *std::move(text));
    return {};
  }

  static std::unexpected<Error> TooMuch(const std::string& why) {
    return Fail(Errc::kInvalidArgument, "these are too many files for a project's flake: " + why,
                "keep what the flake needs in *.nix beside it and in nix/");
  }

  ProjectFiles files_ = {};
  std::size_t bytes_ = 0;
};

}  // namespace

Result<ProjectFiles> ReadProjectFiles(const std::string& directory) {
  Reader reader;
  IGLOO_TRY(reader.ReadTop(directory));
  ProjectFiles files = std::move(reader).files();
  return files.contains("flake.nix") ? files : ProjectFiles();
}

std::string DigestOf(const ProjectFiles& files) {
  std::string all;
  for (const auto& [name, text] : files) {
    all += fmt::format("{} {}\n{}{}", name.size(), text.size(), name, text);
  }
  return Sha256Hex(all);
}

}  // namespace igloo::nix
