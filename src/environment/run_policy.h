#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "environment/environment.h"
#include "environment/hidden.h"
#include "network/wanted.h"
#include "sandbox/policy.h"
#include "wall/walls.h"

namespace igloo::environment {

enum class ProjectMode { kReadOnly, kOverlay, kReadWrite };

/// Where code sees a project unless somebody wants it elsewhere.
inline constexpr const char* kProjectMount = "/project";

/// The repository of a project whose ".git" leads elsewhere: shown at its own path, copy-on-write.
struct Repository {
  std::string path = {};
  std::vector<sandbox::Hidden> hidden = {};
  std::string changes = {};  ///< sandbox::OverlayTree::changes
};

/// A directory of the user's.
struct Project {
  std::string path = {};
  ProjectMode mode = ProjectMode::kReadOnly;
  std::string mount_point = kProjectMount;  ///< inside
  HideRules rules = {};
  std::vector<sandbox::Hidden> hidden = {};  ///< what these say; whoever plans it has looked
  /// Of an overlay: the directory that keeps what is written (sandbox::OverlayTree::changes).
  std::string changes = {};
  std::optional<Repository> repository = {};  ///< of an overlay that keeps changes
};

struct Code {
  std::string text = {};
};
/// Code that is not there yet: the interpreter is started and waits, before the first line of it
/// has run, until igloo puts the file in its place.
struct AwaitedCode {};
/// A program that takes code again and again.
struct Driver {
  std::string text = {};
  std::string file = {};     ///< its name
  std::string program = {};  ///< the name of an empty file beside it; none if empty
};
struct Program {
  std::vector<std::string> argv = {};
};

/// A file that a run finds in its working directory.
struct GivenFile {
  std::string path = {};  ///< relative to it; directories on the way are made
  std::string content = {};
  std::uint32_t mode = 0644;
};

/// Where a run finds itself.
struct Place {
  std::string home = "/workspace";       ///< memory of its own
  std::string directory = "/workspace";  ///< home or a directory below: where it starts
  sandbox::Access access = sandbox::Access::kReadWrite;
  std::string user = "user";
  bool operator==(const Place&) const = default;
};

/// What one run asks for.
struct RunRequest {
  std::variant<Code, AwaitedCode, Driver, Program> what = Code{};
  std::optional<Project> project = {};
  /// Instead of the environment's own. A time of 0 is none at all.
  std::optional<std::uint64_t> time_ms = {};
  std::optional<std::uint64_t> memory_bytes = {}, millicpus = {};
  std::optional<std::uint64_t> processes = {}, open_files = {};
  std::vector<GivenFile> files = {};
  Place place = {};
  /// What the run writes to the environment's own directories (Environment::copied) is kept in
  /// memory and dropped with it.
  sandbox::Access root = sandbox::Access::kReadOnly;
  network::Wanted network = {};
  std::string resolver = {};     ///< of its network; empty: this machine's
  std::string resolv_conf = {};  ///< the host's, for whoever shares its network
  /// What programs that know no proxy get where everything can be reached; whoever knows that this
  /// machine has none says so.
  std::optional<sandbox::Device> device = {};
  std::uint32_t extra_descriptors = 0;  ///< that the program gets as 3, 4, ...
  /// igloo gets a descriptor of the working directory, to read what the run left there; behind it
  /// one of where programs display, if they do (DisplaysParts); and the last is that of where
  /// awaited code goes.
  bool hand_out = false;
  /// What the user set up; they beat the environment's, and HOME and the like too.
  std::map<std::string, std::string> variables = {};
  /// A person at a terminal: a terminal of its own, of this type ("xterm").
  std::optional<std::string> terminal = {};
  /// A backend that can limit only the size of memory trees gets a policy that asks for no more;
  /// whoever chose it says so to the user.
  bool fine_memory_limits = true;
  /// Likewise for a backend that has no overlays: it mounts a read-only project itself.
  bool views = true;
  /// Likewise for a backend that gives sandboxes no network devices.
  bool devices = true;
  /// The name of that backend, for people.
  std::string_view backend = wall::kDefault.name;
};

/// Whether what code displays comes back with its result.
bool DisplaysParts(const Environment& environment, const RunRequest& request);

/// The policy of a run in an environment: its limits, the network that was asked for and no other,
/// /workspace as home, nothing inherited.
Result<sandbox::Policy> PolicyForRun(const Environment& environment, const RunRequest& request);

}  // namespace igloo::environment
