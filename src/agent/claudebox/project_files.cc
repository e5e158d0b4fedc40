#include "agent/claudebox/project_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"

namespace igloo::agent::claudebox {
namespace {

constexpr std::size_t kMostFile = 1U << 20;

/// Whether there is such a file, and its text.
Result<bool> Read(const std::string& path, std::string& text) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  auto read = ReadAll(file.get(), kMostFile);
  if (!read) return Wrap("'" + Printable(path) + "'", std::move(read).error());
  text = *std::move(read);
  return true;
}

}  // namespace

Result<ProjectFiles> ReadProjectFiles(const std::string& directory, config::TrustStore& store) {
  std::error_code failure;
  const std::string place = std::filesystem::canonical(directory, failure).string();
  if (failure) return FailSys(failure.value(), "cannot find the project '" + directory + "'");
  ProjectFiles files{.entry = place + "/.claudebox",
                     .settings_path = place + "/.claudebox",
                     .variables_path = place + "/.claudebox.env"};
  IGLOO_ASSIGN(const bool settings, Read(files.settings_path, files.settings));
  IGLOO_ASSIGN(const bool variables, Read(files.variables_path, files.variables));
  if (!settings && !variables) return files;
  // The length keeps the end of one file from being read as the beginning of the other.
  files.digest =
      Sha256Hex(std::to_string(files.settings.size()) + "\n" + files.settings + files.variables);
  IGLOO_ASSIGN(const auto trusted, store.Find(files.entry));
  files.trust = !trusted                   ? config::Trust::kUntrusted
                : *trusted == files.digest ? config::Trust::kTrusted
                                           : config::Trust::kChanged;
  return files;
}

}  // namespace igloo::agent::claudebox
