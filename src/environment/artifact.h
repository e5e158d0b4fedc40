#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "environment/environment.h"
#include "wall/walls.h"

namespace igloo::environment {

/// What an artifact's metadata.json says. Other keys (exec, session_exec, ...) are of no use here.
struct ArtifactMetadata {
  std::uint64_t schema = 0;  ///< 0: made by the original mkSandbox, which writes none
  std::string name = {};
  std::vector<std::string> aliases = {};
  std::string description = {};
  std::string interpreter_type = {};          ///< python, bash or node; empty: another one
  std::vector<std::string> interpreter = {};  ///< words; empty: that of interpreter_type
  CodePassing passing = CodePassing::kFile;   ///< "code"
  std::string code_file = {};                 ///< empty: the usual name for its type
  std::uint64_t timeout_seconds = 30;
  std::uint64_t memory_mb = 512;
  std::optional<std::uint64_t> processes = {}, open_files = {};
  std::string network = "none";
  std::string backend = std::string(wall::kDefault.name);
  std::optional<std::uint64_t> warm = {};
  std::vector<std::string> preload = {};
  std::map<std::string, std::string> variables = {};  ///< "env"
  /// Of a registry, instead of store paths: what is inside. It brings an interpreter if none is
  /// named here.
  std::string image = {};
  std::vector<std::string> closure = {};  ///< store paths; empty: it does not say
  std::string closure_file = {};          ///< or a file in the store that lists them
  std::string root = {};                  ///< the store path whose bin is PATH; empty: all of them
  std::string store_prefix = {};          ///< where the store lies: "/mnt" for /mnt/nix/store
};

/// Reads the text of a metadata.json. Pure.
Result<ArtifactMetadata> ParseArtifactMetadata(std::string_view text);

/// "/nix/store/HASH-name" and nothing below it. Pure.
bool IsStorePath(std::string_view path);

/// A place in a store: "/mnt" and "/nix/store/HASH-name" of "/mnt/nix/store/HASH-name/bin".
struct StorePlace {
  std::string prefix = {};
  std::string path = {};
};
/// Nothing when it is in none. Pure.
std::optional<StorePlace> FindStorePlace(std::string_view path);

/// One store path a line, as closureInfo writes it. Pure.
Result<std::vector<std::string>> ParseClosure(std::string_view text);

/// All that a store path needs, itself too, as Nix knows it. Empty: there is nobody to ask.
using ClosureOf = std::function<Result<std::vector<std::string>>(const StorePlace& place)>;

/// What artifacts are read with.
struct Store {
  /// Where it lies, whatever the metadata says, also when it is empty; none: as that says.
  std::optional<std::string> prefix = {};
  ClosureOf closure_of = {};
};

/// What lies in the store at one path of a closure.
struct StorePath {
  enum class Kind { kMissing, kTree, kLink };
  Kind kind = Kind::kMissing;
  std::string points_to = {};           ///< of a link
  std::set<std::string> programs = {};  ///< of those that environments look for, in its bin
  bool has_bin = false;
};

/// The programs in a store path's bin that MakeArtifactEnvironment asks about.
std::vector<std::string> ProgramsOf(const ArtifactMetadata& metadata);

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
  /// The metadata's prefix is the word of whoever knows the store. SECURITY: neither the artifact
  /// nor links that it is made of choose another one.
  bool prefix_is_final = false;
  /// From a list's memory: its metadata has only names and a description. It is read again when
  /// somebody wants to use it.
  bool remembered = false;
  /// Why it cannot be used, and the fix, as far as its metadata says so. Its closure is looked at
  /// when somebody wants to use it: there may be thousands of store paths.
  std::optional<Error> unavailable = {};
};

/// All of an environment but what is inside: what can be told about it without its closure.
Environment OutlineOf(const Artifact& artifact);

/// The environment of an artifact that names an image, and of that image. Pure.
Environment OverImage(const Artifact& artifact, Environment image);

/// The environment itself, its closure looked up and looked at. Not of one that names an image.
Result<Environment> OpenArtifact(const Artifact& artifact, const ClosureOf& closure_of = {});
using ArtifactOpener = std::function<Result<Environment>(const Artifact& artifact)>;

/// A directory that is no artifact, and why; it is skipped.
struct ArtifactProblem {
  std::string directory = {};
  Error error = {};
};

struct ArtifactScan {
  std::vector<Artifact> found = {};
  std::vector<ArtifactProblem> problems = {};
};

/// An artifact of that metadata, with what can be told about it at once.
Artifact Assess(const std::string& directory, ArtifactMetadata metadata, const Store& store);

/// The artifact in one directory. Fails when it is none.
Result<Artifact> ReadArtifact(const std::string& directory, const Store& store = {});

/// Looks through every directory below `places`, links followed, in the order of their names.
/// A missing place is fine. Of two artifacts with one name the one in the earlier place counts;
/// within a place the first does, and the other is a problem.
ArtifactScan ScanArtifacts(const std::vector<std::string>& places, const Store& store = {});

/// What lists of artifacts remember of those in stores.
struct ListMemory {
  std::string file = {};  ///< of their own; empty: none
  std::chrono::system_clock::time_point now = {};
};

/// The same for those who only list them: an artifact in a store that the memory knows is not read
/// again, and its metadata has no more than its name, aliases and description.
ArtifactScan ListArtifacts(const std::vector<std::string>& places, const Store& store,
                           const ListMemory& memory);

}  // namespace igloo::environment
