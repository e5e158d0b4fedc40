// The table of all keys: what a configuration file may say, now and later.

#include "config/put.h"
#include "config/schema.h"

namespace igloo::config {
namespace {

using enum Served;
using enum Grant;

constexpr std::uint64_t kDay = 86'400;
constexpr std::uint64_t kTerabyte = 1U << 20;  // in megabytes

Limits& LimitsOf(Target& target) {
  return target.environment != nullptr ? target.environment->limits : target.config.limits;
}

template <std::optional<std::uint64_t> Limits::* kField>
void StoreLimit(Target& target, const Checked& value) {
  LimitsOf(target).*kField = value.number;
}

template <SourceKind kKind>
void StoreSource(Target& target, const Checked& value) {
  target.environment->source = {kKind, value.text};
}

void StoreBackend(Target& target, const Checked& value) {
  (target.environment != nullptr ? target.environment->backend : target.config.backend) =
      value.wall;
}

void StoreProject(Target& target, const Checked& value) {
  target.config.project.path = value.text;
  target.config.project.where = value.where;
}

void StoreMode(Target& target, const Checked& value) {
  target.config.project.mode = value.text == "readwrite" ? environment::ProjectMode::kReadWrite
                               : value.text == "overlay" ? environment::ProjectMode::kOverlay
                                                         : environment::ProjectMode::kReadOnly;
}

void StoreUseFlake(Target& target, const Checked& value) {
  target.config.project.use_flake = value.flag;
  target.config.project.use_flake_file = target.config.file;
  target.config.project.use_flake_where = value.where;
}

void StoreInterpreter(Target& target, const Checked& value) {
  for (const std::string_view word : Words(value.text)) {
    target.environment->interpreter.emplace_back(word);
  }
}

void StoreTools(Target& target, const Checked& value) {
  target.config.daemon.tools = FindTools(value.text).value_or(Tools::kRun);
}

template <auto SessionConfig::* kField>
void StoreSession(Target& target, const Checked& value) {
  target.config.session.*kField = value.number;
  target.config.session.given = true;
}

void StoreFork(Target& target, const Checked& value) {
  target.config.session.fork = value.flag;
  target.config.session.given = true;
}

void StoreInherit(Target& target, const Checked& value) {
  (target.environment != nullptr ? target.environment->inherit : target.config.project.inherit) =
      value.list;
}

template <std::vector<std::string> environment::HideRules::* kField>
void StoreHidden(Target& target, const Checked& value) {
  (target.environment != nullptr ? target.environment->hidden : target.config.project.hidden).*
      kField = value.list;
}

NetworkConfig& NetworkOf(Target& target) { return target.environment->network; }

void StoreLevel(Target& target, const Checked& value) {
  const network::Level level = network::FindLevel(value.text).value_or(network::Level::kNone);
  if (target.environment != nullptr) {
    NetworkOf(target).level = level;
  } else {
    target.config.network = level;
  }
}

void StoreAllow(Target& target, const Checked& value) {
  (target.environment != nullptr ? NetworkOf(target).allow : target.config.allow) = value.list;
}

void StorePublish(Target& target, const Checked& value) {
  for (const std::string& each : value.list) {
    if (const auto port = network::ParsePublished(each)) NetworkOf(target).publish.push_back(*port);
  }
}

void StoreReach(Target& target, const Checked& value) {
  for (const std::string& each : value.list) {
    if (const auto port = network::ParsePort(each)) NetworkOf(target).reach.push_back(*port);
  }
}

template <SecretSource::Kind kKind>
void StoreSecretSource(Target& target, const Checked& value) {
  target.secret->source = {kKind, value.text};
}

constexpr Shape Choice(std::string_view choices, std::string_view later = {}) {
  return {.kind = Kind::kChoice, .choices = choices, .later = later};
}
constexpr Shape Seconds(std::uint64_t most) { return {.kind = Kind::kSeconds, .most = most}; }
constexpr Shape Megabytes(std::uint64_t least, std::uint64_t most) {
  return {.kind = Kind::kMegabytes, .least = least, .most = most};
}
constexpr Shape Count(std::uint64_t least, std::uint64_t most) {
  return {.kind = Kind::kCount, .least = least, .most = most};
}
constexpr Shape kCpus = {.kind = Kind::kCpus, .most = 1024};
constexpr Shape kText = {.kind = Kind::kText};
constexpr Shape kName = {.kind = Kind::kName};
constexpr Shape kPath = {.kind = Kind::kPath};
constexpr Shape kInside = {.kind = Kind::kInside};
constexpr Shape kFlag = {.kind = Kind::kFlag};
constexpr Shape kTexts = {.kind = Kind::kTexts};
constexpr Shape kVariables = {.kind = Kind::kVariables};
constexpr Shape kResolvers = {.kind = Kind::kResolvers};
constexpr Shape kRules = {.kind = Kind::kRules};
constexpr Shape kDenied = {.kind = Kind::kDenied};
constexpr Shape kHosts = {.kind = Kind::kHosts};
constexpr Shape kPorts = {.kind = Kind::kPorts};
constexpr Shape kPublished = {.kind = Kind::kPublished};
constexpr Shape kTextTable = {.kind = Kind::kTextTable};
constexpr Shape kBackends = {
    .kind = Kind::kChoice, .choices = wall::kNames, .later = wall::kLaterNames, .names_wall = true};
constexpr Shape kTiers = Choice("none allow internet host");

constexpr std::string_view kAboutVariables =
    "their names; the values are read when a run starts and stand in no file";

// Path, shape, fallback, example, description, availability, what it grants, where it goes.
// clang-format off
constexpr Key kKeys[] = {
    {"daemon.transport", Choice("stdio http"), "\"stdio\"", "",
     "how clients reach the server; --stdio and --http beat it", kNow, kEveryone,
     Put<&Config::daemon, &DaemonConfig::transport>},
    {"daemon.log_level", Choice("trace debug info warn error"), "\"info\"", "",
     "what the server says on standard error; debug and trace: a line for every call, too",
     kNow, kEveryone, Put<&Config::daemon, &DaemonConfig::log_level>},
    {"daemon.listen", kText, "\"127.0.0.1:8730\"", "",
     "address of the transport http", kNow, kEveryone, Put<&Config::daemon, &DaemonConfig::listen>},
    {"daemon.tools", Choice("run per-environment both"), "\"run\"", "",
     "one tool for all environments, one for each, or all of them; --tools beats it",
     kNow, kEveryone, StoreTools},
    {"daemon.always_load", kFlag, "true", "false",
     "clients that search their tools are asked to show 'run' to the model at once",
     kNow, kEveryone, Put<&Config::daemon, &DaemonConfig::always_load>},
    {"daemon.terminal_sequences", Choice("remove keep"), "\"remove\"", "",
     "what becomes of colours and other control sequences in results", kNow, kEveryone,
     Put<&Config::daemon, &DaemonConfig::terminal_sequences>},

    {"defaults.backend", kBackends, "\"jail\"", "",
     "the wall", kNow, kBackend, StoreBackend},
    {"defaults.timeout_seconds", Seconds(kDay), "30", "",
     "a run is stopped after this time; a shell is not", kNow, kEveryone, StoreLimit<&Limits::time_ms>},
    {"defaults.memory_mb", Megabytes(16, kTerabyte), "512", "",
     "memory of a whole sandbox", kNow, kEveryone, StoreLimit<&Limits::memory_bytes>},
    {"defaults.network", kTiers, "\"none\"", "",
     "what runs may reach", kNow, kNetwork, StoreLevel},

    {"limits.cpu_seconds", Seconds(kDay), "", "60",
     "processor time of each process, rounded up to whole seconds",
     kNow, kEveryone, StoreLimit<&Limits::cpu_ms>},
    {"limits.cpus", kCpus, "", "2",
     "processors that a whole sandbox may keep busy, 0.5 for half of one; cgroups keep it",
     kNow, kEveryone, StoreLimit<&Limits::millicpus>},
    {"limits.processes", Count(1, 1'000'000), "256", "",
     "processes and threads at once", kNow, kEveryone, StoreLimit<&Limits::processes>},
    {"limits.open_files", Count(16, 1'000'000), "512", "",
     "open files of one process", kNow, kEveryone, StoreLimit<&Limits::open_files>},
    {"limits.file_mb", Megabytes(1, kTerabyte), "256", "",
     "size of one file", kNow, kEveryone, StoreLimit<&Limits::file_bytes>},
    {"limits.disk_mb", Megabytes(1, kTerabyte), "256", "",
     "size of each place that a run can write to: /workspace, /tmp, the copy of a project",
     kNow, kEveryone, StoreLimit<&Limits::disk_bytes>},
    {"limits.disk_files", Count(16, 100'000'000), "65536", "",
     "number of files in each of them", kNow, kEveryone, StoreLimit<&Limits::disk_files>},
    {"limits.output_mb", Megabytes(1, 1024), "8", "",
     "kept of each output stream for --json; the rest is counted and dropped, and code that writes "
     "128 times as much is ended",
     kNow, kEveryone, StoreLimit<&Limits::output_bytes>},

    {"project.path", kPath, "", "\"~/code/app\"",
     "the directory; code sees it at /project", kNow, kMounts, StoreProject},
    {"project.mount_point", kInside, "\"/project\"", "",
     "where code sees it", kNow, kMounts, Put<&Config::project, &ProjectConfig::mount_point>},
    {"project.mode", Choice("readonly overlay readwrite"), "\"readonly\"", "",
     "overlay: code changes a copy that is dropped; readwrite: code changes your files",
     kNow, kMounts, StoreMode},
    {"project.use_flake", kFlag, "false", "true",
     "the project's devShell becomes the environment 'project', once 'igloo trust --flake' said yes to it",
     kNow, kNothing, StoreUseFlake},
    {"project.hide", kTexts, "[]", "[\"secrets/\", \"*.sqlite\"]",
     "files and directories that code does not get to read, beside the usual ones; docs/projects.md has them",
     kNow, kNothing, StoreHidden<&environment::HideRules::hide>},
    {"project.show_hidden", kTexts, "[]", "[\"tests/**/*.pem\"]",
     "what code does get to read, whoever hides it; \"**\" is everything", kNow, kHidden,
     StoreHidden<&environment::HideRules::show>},
    {"project.inherit_env.vars", kVariables, "[]", "[\"LANG\", \"TZ\"]",
     kAboutVariables, kNow, kSecrets, StoreInherit},

    {"artifacts.directory", kPath, "", "\"~/.config/igloo/sandboxes\"",
     "each directory in it is one environment", kNow, kMounts, Put<&Config::artifacts>},

    {"nix.program", kPath, "", "\"/nix/var/nix/profiles/default/bin/nix\"",
     "the Nix that builds environments; if absent, the first in PATH", kNow, kEveryone,
     Put<&Config::nix, &NixConfig::program>},
    {"nix.store", kPath, "", "\"~/.local/share/nix/root\"",
     "a store of your own: what is /nix/store for Nix lies below it", kNow, kEveryone,
     Put<&Config::nix, &NixConfig::store>},
    {"nix.nixpkgs", kText, "\"nixpkgs\"", "\"github:NixOS/nixpkgs/nixos-unstable\"",
     "the flake that bash and coreutils come from where a flake brings no nixpkgs", kNow, kEveryone,
     Put<&Config::nix, &NixConfig::nixpkgs>},

    {"audit.enabled", kFlag, "true", "",
     "one record per call: when, who, where, how it ended; below XDG_STATE_HOME or ~/.local/state",
     kNow, kEveryone, Put<&Config::audit, &AuditConfig::enabled>},
    {"audit.code", kFlag, "false", "true",
     "the code itself as well; without it, its digest and its size", kNow, kEveryone, Put<&Config::audit, &AuditConfig::code>},
    {"audit.rotate_mb", Megabytes(1, 4096), "16", "",
     "a new file is begun at this size", kNow, kEveryone, Put<&Config::audit, &AuditConfig::rotate_bytes>},
    {"audit.keep", Count(1, 99), "4", "",
     "how many older files stay", kNow, kEveryone, Put<&Config::audit, &AuditConfig::keep>},

    {"session.idle_timeout_seconds", Seconds(7 * kDay), "300", "",
     "an unused session ends after this time", kNow, kEveryone, StoreSession<&SessionConfig::idle_ms>},
    {"session.max_lifetime_seconds", Seconds(30 * kDay), "3600", "",
     "every session ends after this time", kNow, kEveryone, StoreSession<&SessionConfig::lifetime_ms>},
    {"session.limit", Count(1, 1000), "16", "",
     "sessions at once", kNow, kEveryone, StoreSession<&SessionConfig::most>},
    {"session.fork", kFlag, "", "false",
     "whether a session can begin as a copy of another; if absent, where one person uses the server", kNow, kEveryone, StoreFork},

    {"network.allow", kRules, "[]", "[\"pypi.org\", \"files.pythonhosted.org\"]",
     "what every environment with the network \"allow\" may reach; docs/network.md has the rules",
     kNow, kNetwork, StoreAllow},
    {"network.deny", kDenied, "[]", "[\"*.example.net\", \"203.0.113.0/24\"]",
     "what nobody reaches, whatever allows it; docs/network.md has the rules", kNow, kNetwork, Put<&Config::deny>},
    {"network.resolver", kResolvers, "", "\"9.9.9.9\"",
     "the resolver of the proxy, instead of the host's", kNow, kNetwork, Put<&Config::resolver>},

    {"secrets.NAME.variable", kName, "", "\"GITHUB_TOKEN\"",
     "the variable of yours that holds it", kNow, kSecrets,
     StoreSecretSource<SecretSource::Kind::kVariable>},
    {"secrets.NAME.file", kPath, "", "\"~/.config/github-token\"",
     "or the file that holds it, which nobody but you may read", kNow, kSecrets,
     StoreSecretSource<SecretSource::Kind::kFile>},
    {"secrets.NAME.command", kText, "", "\"pass show github\"",
     "or the command that prints it: words, no shell", kNow, kSecrets,
     StoreSecretSource<SecretSource::Kind::kCommand>},
    {"secrets.NAME.hosts", kHosts, "", "[\"api.github.com\"]",
     "the only hosts it is sent to", kNow, kSecrets, Put<&SecretConfig::hosts>},
    {"secrets.NAME.header", kText, "", "\"Authorization\"",
     "the only header it is sent in, or several with commas; needed", kNow, kSecrets, Put<&SecretConfig::header>},

    {"agents.NAME.base", kName, "", "\"claude\"",
     "the agent of igloo's that it starts from; if absent, the one of the same name", kNow, kEveryone,
     Put<&AgentConfig::base>},
    {"agents.NAME.program", kText, "", "\"my-agent\"",
     "its program, on PATH or as a path; needed without a base", kNow, kEveryone,
     Put<&AgentConfig::program>},
    {"agents.NAME.arguments", kTexts, "[]", "[\"--no-sandbox\"]",
     "before those of the command line; {notice} in one is the path of SANDBOX.md inside", kNow,
     kEveryone, Put<&AgentConfig::arguments>},
    {"agents.NAME.pass", kVariables, "[]", "[\"MY_AGENT_MODEL\"]",
     "variables of yours that it gets", kNow, kSecrets, Put<&AgentConfig::pass>},
    {"agents.NAME.home", kTexts, "[]", "[\".my-agent\"]",
     "directories of your home that it can read and change", kNow, kMounts,
     Put<&AgentConfig::home>},
    {"agents.NAME.allow", kRules, "[]", "[\"api.example.com\"]",
     "what it may reach with --network allow", kNow, kNetwork, Put<&AgentConfig::allow>},

    {"backends.microvm.hypervisor", Choice("qemu cloud-hypervisor firecracker"), "\"qemu\"", "",
     "the program that runs the machine", kLater, kBackend},
    {"backends.microvm.kernel", kPath, "", "\"/boot/vmlinuz-6.1.0-56-amd64\"",
     "the kernel that it starts with; its modules lie in lib/modules beside it, or in /lib/modules; if absent, the "
     "newest in /boot that has 9p", kNow, kBackend, Put<&Config::kernel>},

    {"environments.NAME.preset", kName, "", "\"python\"",
     "made from what igloo brings along: shell, python, node, ...",
     kNow, kNothing, StoreSource<SourceKind::kPreset>},
    {"environments.NAME.path", kPath, "", "\"./sandboxes/data-science\"",
     "made from an artifact of mkSandbox", kNow, kMounts, StoreSource<SourceKind::kArtifact>},
    {"environments.NAME.alias", kName, "", "\"python\"",
     "another name of a preset, or of an environment in this file", kNow, kNothing, StoreSource<SourceKind::kAlias>},
    {"environments.NAME.flake", kText, "", "\"nixpkgs#ripgrep\"",
     "made from a flake by Nix, and pinned in a lock of its own; 'igloo env update' renews it", kNow, kNothing, StoreSource<SourceKind::kFlake>},
    {"environments.NAME.image", kText, "", "\"oci:./layout:latest\"",
     "made from an OCI image: oci:PATH[:TAG], oci-archive:PATH, a root directory, or a name that "
     "'igloo env pull' fetched",
     kNow, kMounts, StoreSource<SourceKind::kImage>},
    {"environments.NAME.description", kText, "", "\"Python for data\"",
     "what clients are told about it", kNow, kNothing, Put<&EnvironmentConfig::description>},
    {"environments.NAME.interpreter", kText, "", "\"python3 -c\"",
     "the command that gets the code, as an argument behind -c or -e, else as input",
     kNow, kNothing, StoreInterpreter},
    {"environments.NAME.backend", kBackends, "", "\"jail\"",
     "its own wall", kNow, kBackend, StoreBackend},
    {"environments.NAME.timeout_seconds", Seconds(kDay), "", "60",
     "its own time", kNow, kLimits, StoreLimit<&Limits::time_ms>},
    {"environments.NAME.memory_mb", Megabytes(16, kTerabyte), "", "1024",
     "its own memory", kNow, kLimits, StoreLimit<&Limits::memory_bytes>},
    {"environments.NAME.env", kTextTable, "", "{ TZ = \"UTC\" }",
     "variables that its code sees; no place for secrets", kNow, kStart, Put<&EnvironmentConfig::variables>},
    {"environments.NAME.network", kTiers, "\"none\"", "\"allow\"",
     "what its runs may reach", kNow, kNetwork, StoreLevel},
    {"environments.NAME.allow", kRules, "[]", "[\"pypi.org\"]",
     "what it may reach beside [network]'s; with \"internet\", addresses that are closed otherwise",
     kNow, kNetwork, StoreAllow},
    {"environments.NAME.publish", kPublished, "[]", "[8080, \"8081:80\"]",
     "its ports that you reach on 127.0.0.1, by the same number or by another", kNow, kNetwork, StorePublish},
    {"environments.NAME.reach", kPorts, "[]", "[5432]",
     "ports of your 127.0.0.1 that it reaches on its own", kNow, kNetwork, StoreReach},
    {"environments.NAME.raw_sockets", kFlag, "false", "",
     "whether its code may make raw sockets (tcpdump, nmap -sS); with \"internet\" only",
     kNow, kNetwork, Put<&EnvironmentConfig::network, &NetworkConfig::raw_sockets>},
    {"environments.NAME.secrets", kTexts, "[]", "[\"github-token\"]",
     "names of [secrets.NAME] that its requests carry", kNow, kSecrets, Put<&EnvironmentConfig::network, &NetworkConfig::secrets>},
    {"environments.NAME.mounts", kTexts, "[]", "[\"/srv/data:/data:ro\"]",
     "further directories of the host", kLater, kMounts},
    {"environments.NAME.hide", kTexts, "[]", "[\"secrets/\"]",
     "what its code does not get to read of the project, beside what [project] hides", kNow, kNothing,
     StoreHidden<&environment::HideRules::hide>},
    {"environments.NAME.show_hidden", kTexts, "[]", "[\".env\"]",
     "what its code does get to read of the project, whoever hides it", kNow, kHidden,
     StoreHidden<&environment::HideRules::show>},
    {"environments.NAME.warm", Count(0, 64), "", "2",
     "interpreters of a server that wait ready in sandboxes of their own, at most, for runs and for sessions; 4 if absent",
     kNow, kEveryone, Put<&EnvironmentConfig::warm>},
    {"environments.NAME.preload", kTexts, "[]", "[\"numpy\", \"pandas\"]",
     "Python modules that its sessions have loaded when they begin", kNow, kStart, Put<&EnvironmentConfig::preload>},
    {"environments.NAME.conveniences", kFlag, "true", "false",
     "whether igloo adds display() and unheld output to Python, igloo.display() to Node", kNow, kEveryone,
     Put<&EnvironmentConfig::conveniences>},
    {"environments.NAME.sessions", kFlag, "true", "false",
     "whether it offers sessions", kLater, kEveryone},

    {"environments.NAME.limits.cpu_seconds", Seconds(kDay), "", "120",
     "as in [limits]", kNow, kLimits, StoreLimit<&Limits::cpu_ms>},
    {"environments.NAME.limits.cpus", kCpus, "", "1",
     "as in [limits]", kNow, kLimits, StoreLimit<&Limits::millicpus>},
    {"environments.NAME.limits.processes", Count(1, 1'000'000), "", "64",
     "as in [limits]", kNow, kLimits, StoreLimit<&Limits::processes>},
    {"environments.NAME.limits.open_files", Count(16, 1'000'000), "", "1024",
     "as in [limits]", kNow, kLimits, StoreLimit<&Limits::open_files>},
    {"environments.NAME.limits.file_mb", Megabytes(1, kTerabyte), "", "64",
     "as in [limits]", kNow, kLimits, StoreLimit<&Limits::file_bytes>},
    {"environments.NAME.limits.disk_mb", Megabytes(1, kTerabyte), "", "512",
     "as in [limits]", kNow, kLimits, StoreLimit<&Limits::disk_bytes>},
    {"environments.NAME.limits.disk_files", Count(16, 100'000'000), "", "10000",
     "as in [limits]", kNow, kLimits, StoreLimit<&Limits::disk_files>},
    {"environments.NAME.limits.output_mb", Megabytes(1, 1024), "", "32",
     "as in [limits]", kNow, kLimits, StoreLimit<&Limits::output_bytes>},

    {"environments.NAME.inherit_env.vars", kVariables, "[]", "[\"LANG\", \"TZ\"]",
     kAboutVariables, kNow, kSecrets, StoreInherit},
};
// clang-format on

}  // namespace

std::span<const Key> Keys() { return kKeys; }

}  // namespace igloo::config
