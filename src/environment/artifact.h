#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "environment/environment.h"

namespace igloo::environment {

/// What an artifact's metadata.json says. Other keys (exec, session_exec, ...) are of no use here.
struct ArtifactMetadata {
  std::string name = {};
  std::string interpreter_type = {};  ///< python, bash or node
  std::string description = {};
  std::uint64_t timeout_seconds = 30;
  std::uint64_t memory_mb = 512;
  std::map<std::string, std::string> variables = {};  ///< "env"
  std::vector<std::string> closure = {};              ///< store paths; empty: it does not say
  std::string closure_file = {};                      ///< or a file in the store that lists them
  std::string root = {};          ///< the store path whose bin is PATH; empty: all of them
  std::string store_prefix = {};  ///< where the store lies: "/mnt" for /mnt/nix/store
};

/// Reads the text of a metadata.json. Pure.
Result<ArtifactMetadata> ParseArtifactMetadata(std::string_view text);

/// "/nix/store/HASH-name" and nothing below it. Pure.
bool IsStorePath(std::string_view path);

/// One store path a line, as closureInfo writes it. Pure.
Result<std::vector<std::string>> ParseClosure(std::string_view text);

/// What lies in the store at one path of a closure.
struct StorePath {
  enum class Kind { kMissing, kTree, kLink };
  Kind kind = Kind::kMissing;
  std::string points_to = {};           ///< of a link
  std::set<std::string> programs = {};  ///< of those that environments look for, in its bin
  bool has_bin = false;
};

/// The programs in a store path's bin that MakeArtifactEnvironment asks about.
std::span<const std::string_view> ArtifactPrograms();

/// The environment of an artifact: its closure read-only and nothing else of the host. Pure;
/// `store` has one entry for each path of the closure. Fails with the way to rebuild it when it
/// cannot be used.
Result<Environment> MakeArtifactEnvironment(const ArtifactMetadata& metadata,
                                            const std::string& directory,
                                            const std::vector<StorePath>& store);

/// A directory that mkSandbox made. SECURITY: it is data; nothing in it is executed on the host.
struct Artifact {
  std::string directory = {};
  ArtifactMetadata metadata = {};
  Result<Environment> environment = {};  ///< or why it cannot be used, and the fix
};

/// A directory that is no artifact, and why; it is skipped.
struct ArtifactProblem {
  std::string directory = {};
  Error error = {};
};

struct ArtifactScan {
  std::vector<Artifact> found = {};
  std::vector<ArtifactProblem> problems = {};
};

/// The artifact in one directory. Fails when it is none.
Result<Artifact> ReadArtifact(const std::string& directory, const std::string& store_prefix = {});

/// Looks through every directory below `places`, links followed, in the order of their names.
/// A missing place is fine; of two artifacts with one name the first counts. `store_prefix`, unless
/// empty, is where the store lies whatever the metadata says.
ArtifactScan ScanArtifacts(const std::vector<std::string>& places,
                           const std::string& store_prefix = {});

}  // namespace igloo::environment
