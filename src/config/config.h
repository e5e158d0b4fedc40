#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/value.h"
#include "environment/run_policy.h"
#include "network/wanted.h"
#include "wall/walls.h"

namespace igloo::config {

/// Who wrote a file. A project's own file never grants what its sandbox must not have.
enum class Origin { kUser, kProject };

std::string_view Name(environment::ProjectMode mode);

/// What a file limits; what it does not name is nullopt. Times in milliseconds, sizes in bytes.
struct Limits {
  std::optional<std::uint64_t> time_ms = {};
  std::optional<std::uint64_t> memory_bytes = {};
  std::optional<std::uint64_t> cpu_ms = {};
  std::optional<std::uint64_t> millicpus = {};  ///< processors of a whole sandbox, in thousandths
  std::optional<std::uint64_t> processes = {};
  std::optional<std::uint64_t> open_files = {};
  std::optional<std::uint64_t> file_bytes = {};
  std::optional<std::uint64_t> disk_bytes = {};
  std::optional<std::uint64_t> disk_files = {};
  std::optional<std::uint64_t> output_bytes = {};
  bool operator==(const Limits&) const = default;
};

/// What `over` names, else what `under` names.
Limits Layer(const Limits& over, const Limits& under);

/// What an environment is made from.
enum class SourceKind { kPreset, kArtifact, kAlias, kFlake, kDevShell, kImage };
std::string_view Name(SourceKind kind);  ///< the key that names it: "preset", "path", ...

struct Source {
  SourceKind kind = SourceKind::kPreset;
  std::string value = {};  ///< a name or a reference; an absolute path for kArtifact
  /// The file names none: what it says counts for whoever has that name, somebody's artifact first.
  bool implied = false;
  bool operator==(const Source&) const = default;
};

/// A ready Python takes a megabyte, a ready Node ten.
inline constexpr std::uint64_t kUsualWarm = 4;

/// What a file says about what one environment reaches.
struct NetworkConfig {
  std::optional<network::Level> level = {};
  std::vector<std::string> allow = {};  ///< rules
  std::vector<network::PublishedPort> publish = {};
  std::vector<std::uint16_t> reach = {};
  std::vector<std::string> secrets = {};  ///< names of [secrets.NAME]
  bool raw_sockets = false;
  bool operator==(const NetworkConfig&) const = default;
};

/// Where the value of a secret comes from.
struct SecretSource {
  enum class Kind { kVariable, kFile, kCommand } kind = Kind::kVariable;
  std::string value = {};  ///< a name, an absolute path, or words
  bool operator==(const SecretSource&) const = default;
};
std::string_view Name(SecretSource::Kind kind);  ///< the key that names it: "variable", ...

/// A secret as a file has it: everything but its value, which is read with its first use.
struct SecretConfig {
  std::string name = {};
  Position where = {};
  std::string inside = {};  ///< the variable that holds its placeholder
  SecretSource source = {};
  std::vector<std::string> hosts = {};
  std::string header = {};  ///< the only one that may hold it, or several with commas
  bool operator==(const SecretConfig&) const = default;
};
/// "GITHUB_TOKEN" for "github-token".
std::string VariableFor(std::string_view secret);

/// A coding agent that the user added, or what the user adds to one that igloo knows.
struct AgentConfig {
  std::string name = {};
  Position where = {};
  std::string base = {};     ///< the name of one that igloo knows; empty: see agent::Roster
  std::string program = {};  ///< as one types it, or a path
  std::vector<std::string> arguments = {};
  std::vector<std::string> pass = {};   ///< names of variables
  std::vector<std::string> home = {};   ///< directories below home, to write to
  std::vector<std::string> allow = {};  ///< rules
  bool operator==(const AgentConfig&) const = default;
};

struct EnvironmentConfig {
  std::string name = {};
  std::string file = {};  ///< the file that configures it, and where in it
  Position where = {};
  Origin origin = Origin::kUser;
  Source source = {};
  std::string description = {};
  const wall::Wall* backend = nullptr;  ///< null: it names none
  Limits limits = {};
  std::map<std::string, std::string> variables = {};
  /// Names only: whoever starts a run reads the values then, and they stand in no file.
  std::vector<std::string> inherit = {};
  std::vector<std::string> interpreter = {};  ///< in words; empty: the environment's own
  std::optional<std::uint64_t> warm = {};
  std::vector<std::string> preload = {};
  std::optional<bool> conveniences = {};
  NetworkConfig network = {};
  environment::HideRules hidden = {};  ///< of the project, beside what that says
  bool operator==(const EnvironmentConfig&) const = default;
};

struct ProjectConfig {
  std::string path = {};  ///< absolute; empty: no project
  Position where = {};
  environment::ProjectMode mode = environment::ProjectMode::kReadOnly;
  std::string mount_point = environment::kProjectMount;
  std::vector<std::string> inherit = {};
  environment::HideRules hidden = {};
  /// Its development shell becomes the environment "project"; who asks for that, and where.
  bool use_flake = false;
  std::string use_flake_file = {};
  Position use_flake_where = {};
  bool operator==(const ProjectConfig&) const = default;
};

/// The Nix that makes environments of flakes. What is empty is found by itself.
struct NixConfig {
  std::string program = {}, store = {}, nixpkgs = {};
  bool operator==(const NixConfig&) const = default;
};

/// What the MCP server writes down about every call.
struct AuditConfig {
  bool enabled = true;
  bool code = false;  ///< the code itself, too
  std::uint64_t rotate_bytes = 16U << 20;
  unsigned keep = 4;  ///< older files
  bool operator==(const AuditConfig&) const = default;
};

/// Which tools the MCP server offers: one for all environments, one for each, or all of them.
enum class Tools { kRun, kPerEnvironment, kBoth };
/// "run", "per-environment" or "both"; nullopt for any other word.
std::optional<Tools> FindTools(std::string_view word);
std::string_view Name(Tools tools);

/// Where a server listens that is to serve HTTP and is told no address.
inline constexpr std::string_view kUsualListen = "127.0.0.1:8730";

struct DaemonConfig {
  Tools tools = Tools::kRun;
  /// Clients that search their tools are asked to show a harmless one to the model at once.
  bool always_load = true;
  /// Words of the file: "stdio" or "http", an address, "info", "remove" or "keep".
  std::string transport = "stdio", listen = std::string(kUsualListen);
  std::string log_level = "info", terminal_sequences = "remove";
  bool keeps_sequences() const { return terminal_sequences == "keep"; }
  bool operator==(const DaemonConfig&) const = default;
};

/// How long interpreters live that remember from call to call, and how many do so at once.
struct SessionConfig {
  std::uint64_t idle_ms = 300'000;
  std::uint64_t lifetime_ms = 3'600'000;
  std::size_t most = 16;
  std::optional<bool> fork = {};  ///< absent: where one person uses the server
  bool given = false;             ///< the file says something about it
  bool operator==(const SessionConfig&) const = default;
};

/// Something that the schema knows and this igloo does not do yet. It is refused when it is used;
/// everything else keeps serving.
struct Unavailable {
  std::string section = {};  ///< "environments.web", "daemon", "project", ...
  std::string key = {};      ///< in full: "environments.web.flake"
  std::string what = {};     ///< "'flake' is not available yet"
  std::string file = {};
  Position where = {};
  bool operator==(const Unavailable&) const = default;
};

/// A configuration, understood. Nothing in it was looked up on the host.
struct Config {
  std::string file = {};  ///< empty: there is none, all is default
  /// Not even a look is allowed to where the file would be: somebody else's home, say.
  bool out_of_reach = false;
  /// INVARIANT: a wall that is served, here and in every environment that names one.
  const wall::Wall* backend = &wall::kDefault;
  Limits limits = {};  ///< of every environment that does not say otherwise
  network::Level network = network::Level::kNone;  ///< likewise
  std::vector<std::string> allow = {};             ///< rules of all that have the level 'allow'
  std::vector<std::string> deny = {};  ///< places that nobody reaches, whatever allows them
  std::string resolver = {};           ///< of the proxy; empty: the host's
  std::string kernel = {};             ///< of virtual machines; empty: one of the host's
  std::map<std::string, SecretConfig> secrets = {};
  std::map<std::string, AgentConfig> agents = {};
  ProjectConfig project = {};
  std::string artifacts = {};  ///< directory of mkSandbox artifacts; empty: not named
  NixConfig nix = {};
  AuditConfig audit = {};
  DaemonConfig daemon = {};
  SessionConfig session = {};
  std::map<std::string, EnvironmentConfig> environments = {};
  std::vector<Unavailable> unavailable = {};
  bool operator==(const Config&) const = default;
};

/// The name behind all aliases; a name that is none is its own.
std::string Resolve(const Config& config, std::string_view name);

/// The same through the names that igloo itself gives ("python3"), where they lead to what the file
/// has.
std::string Canonical(const Config& config, std::string_view name);

/// The environment behind a name, through its aliases; nullptr when the file does not have it.
const EnvironmentConfig* FindEnvironment(const Config& config, std::string_view name);

/// What the file limits for a run in an environment: its own, then what counts for all. What
/// nobody names is up to the environment.
Limits LimitsFor(const Config& config, std::string_view environment);

const wall::Wall* BackendFor(const Config& config, std::string_view environment);

/// What runs in an environment reach, but for its secrets: those of SecretsFor belong to it.
/// `level` beats the file's; at 'none' and 'host' nothing is left of what the file allows beyond
/// that.
network::Wanted NetworkFor(const Config& config, std::string_view environment,
                           std::optional<network::Level> level = {});
std::vector<SecretConfig> SecretsFor(const Config& config, std::string_view environment);

/// What code in an environment gets to read of the project.
environment::HideRules HiddenFor(const Config& config, std::string_view environment);

/// Fails when `section` ("project", "daemon", ...) asks for something that is not available yet.
Result<void> CheckAvailable(const Config& config, std::string_view section);

/// The same for a run in an environment: what it asks for itself, or every environment inherits.
Result<void> CheckEnvironmentAvailable(const Config& config, std::string_view environment);

/// The environment that a project's development shell becomes.
inline constexpr std::string_view kProjectEnvironment = "project";

/// The configuration with that environment in it, if it is asked for. Fails when the name is taken.
Result<Config> WithProjectFlake(Config config);

/// The user's configuration with the environments of a trusted project. A name that both have is an
/// error: a project does not redefine what the user set up.
Result<Config> Merge(Config user, const Config& project);

}  // namespace igloo::config
