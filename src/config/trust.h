#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/load.h"

namespace igloo::config {

/// A project whose file the user looked at and trusts, as it was then.
struct Trusted {
  std::string directory = {};  ///< without links
  std::string digest = {};     ///< SHA-256 of its igloo.toml
  bool operator==(const Trusted&) const = default;
};

/// What the user trusts, kept outside all projects.
class TrustStore {
 public:
  virtual ~TrustStore() = default;
  /// The digest that was trusted for a directory, if any.
  virtual Result<std::optional<std::string>> Find(const std::string& directory) = 0;
  virtual Result<void> Add(const Trusted& trusted) = 0;
  /// Whether there was something to remove.
  virtual Result<bool> Remove(const std::string& directory) = 0;
  virtual Result<std::vector<Trusted>> List() = 0;
};

/// One file (0600) per project in a directory (0700) of the user's. The file is named by the digest
/// of the project's path: no name of a project becomes a name here, and two igloos that add at the
/// same time do not get in each other's way.
class TrustDirectory final : public TrustStore {
 public:
  /// `path` is made with the first Add: nothing is written by looking.
  explicit TrustDirectory(std::string path) : path_(std::move(path)) {}
  Result<std::optional<std::string>> Find(const std::string& directory) override;
  Result<void> Add(const Trusted& trusted) override;
  Result<bool> Remove(const std::string& directory) override;
  Result<std::vector<Trusted>> List() override;

 private:
  std::string EntryOf(const std::string& directory) const;
  std::string path_;
};

enum class Trust { kNoFile, kUntrusted, kChanged, kTrusted };

/// A project's own igloo.toml. It counts only when trust is kTrusted.
struct ProjectFile {
  Trust trust = Trust::kNoFile;
  std::string directory = {};  ///< without links
  std::string path = {};
  std::string text = {};
  std::string digest = {};
};

/// Reads a project's file once: what is compared with the store is what is parsed later.
Result<ProjectFile> ReadProjectFile(const std::string& directory, TrustStore& store);

/// What a project's file says. It is parsed only for who is about to trust it, or does.
Decoded DecodeProjectFile(const ProjectFile& file, std::span<const std::string_view> presets);

/// The same for a run, which wants only what counts: a file that was never trusted is not even
/// opened, so nothing that a project puts there can stop or delay a run. Without a place for trust
/// (null) nothing is trusted. A directory that is not there has no file.
Result<ProjectFile> ReadTrustedFile(const std::string& directory, TrustStore* store);

/// The user's configuration with that of the project. A file that is missing or does not count adds
/// nothing; whoever asks tells the user.
Result<Config> WithProject(Config user, const ProjectFile& file,
                           std::span<const std::string_view> presets);

}  // namespace igloo::config
