#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "environment/artifact.h"
#include "environment/environment.h"
#include "environment/host.h"

namespace igloo::environment {

/// One line of the list of environments.
struct Listing {
  std::string name = {};
  std::vector<std::string> aliases = {};
  std::string description = {};
  std::string provider = {};
  std::string source = {}, locked = {};   ///< as an Environment has them
  std::optional<Error> unavailable = {};  ///< why it cannot be used, and the fix
};

/// Presets that the host's /usr cannot be: only an igloo that Nix installed may have them.
inline constexpr std::string_view kInstalledPresets[] = {"python-data"};

/// Presets that are made from an image: data, as nix/presets has them. Whoever wants one pulls it.
std::vector<Artifact> ImagePresets();

/// How much of an environment is wanted: what can be told about it, or all that a run needs.
enum class Depth { kOutline, kWhole };

/// All environments of this machine by name. It was told what there is, and a reload makes a new
/// one; only artifacts are opened when they are asked for, once each. An artifact beats
/// the preset of its name, also one that cannot be used: somebody who asked for their own
/// environment never gets another one in silence. One thread.
class Registry {
 public:
  /// `installed`: presets that came with igloo itself; they beat the host's of their names.
  Registry(HostLayout host, ArtifactScan artifacts, ArtifactOpener open = {},
           std::vector<Artifact> installed = {});

  /// By name or alias. Fails with the fix when it is unavailable, with what was meant when there is
  /// none.
  Result<Environment> Find(std::string_view name, Depth depth = Depth::kWhole) const;
  /// What igloo itself brings under this name or alias, whatever else there is.
  Result<Environment> FindPreset(std::string_view name, Depth depth = Depth::kWhole) const;
  /// The environment of an artifact, of these or not.
  Result<Environment> Open(const Artifact& artifact, Depth depth) const;

  /// By its name.
  const Artifact* FindArtifact(std::string_view name) const;
  /// By its name, or by another that it has and that is nobody's name.
  const Artifact* FindArtifactOrAlias(std::string_view name) const;
  /// That there is no such environment, and which may have been meant: one of these or of `more`.
  Error Unknown(std::string_view name, const std::vector<std::string>& more = {}) const;
  /// Presets in their order, then artifacts of other names by name.
  std::vector<Listing> List() const;
  /// Directories that are no environments, and why.
  const std::vector<ArtifactProblem>& problems() const { return artifacts_.problems; }

 private:
  Listing ListingOf(const Artifact& artifact) const;

  HostLayout host_;
  ArtifactScan artifacts_;
  ArtifactOpener open_;
  std::vector<Artifact> installed_;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  /// To their index. There may be hundreds, and a list asks for each of them several times.
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> names_ = {}, aliases_ = {};
  /// By directory: looking at a closure takes as long as a run.
  mutable std::map<std::string, Environment> opened_ = {};
};

}  // namespace igloo::environment
