#include "environment/run_policy.h"

#include <algorithm>

#include "base/overloaded.h"
#include "environment/basics.h"
#include "environment/conveniences.h"
#include "environment/interpreter.h"
#include "sandbox/entry.h"

namespace igloo::environment {
namespace {

using sandbox::Capacity;
using sandbox::Execution;
using sandbox::MemoryTree;

constexpr std::uint64_t kMegabyte = 1ULL << 20;
constexpr const char* kCodeDirectory = "/run/igloo";

Capacity CapacityFor(const RunRequest& request, std::uint64_t bytes, std::uint64_t inodes) {
  Capacity capacity{.bytes = bytes};
  if (request.fine_memory_limits) capacity.inodes = inodes;
  return capacity;
}

void AddWritablePlaces(const Room& room, const RunRequest& request, sandbox::Policy& policy) {
  const Capacity capacity = CapacityFor(request, room.disk_bytes, room.disk_files);
  // A place that somebody chose may be one that the environment has.
  const bool chosen = request.place != Place{};
  policy.run.emplace_back(MemoryTree{
      .target = request.place.home,
      .capacity = capacity,
      .access = request.place.access,
      .covering = chosen ? sandbox::Covering::kIntended : sandbox::Covering::kForbidden});
  // A home may be one of those itself.
  if (request.place.home != "/tmp") {
    policy.run.emplace_back(MemoryTree{.target = "/tmp", .capacity = capacity, .mode = 01777});
  }
  if (request.place.home == "/dev/shm") return;
  policy.run.emplace_back(MemoryTree{
      .target = "/dev/shm",
      .capacity = CapacityFor(request, std::min(64 * kMegabyte, room.disk_bytes),
                              std::min<std::uint64_t>(4096, room.disk_files)),
      .mode = 01777,
      .execution = request.fine_memory_limits ? Execution::kForbidden : Execution::kAllowed});
}

void AddProject(const Room& room, const RunRequest& request, sandbox::Policy& policy) {
  if (!request.project) return;
  const Project& project = *request.project;
  // SECURITY: a read-only mount does not stop connect() to a socket that lies in it; a view does.
  const bool view = project.mode == ProjectMode::kReadOnly && request.views;
  if (project.mode == ProjectMode::kOverlay || view) {
    sandbox::OverlayTree tree{.source = project.path,
                              .target = project.mount_point,
                              .links = sandbox::Links::kRefused,
                              .hidden = project.hidden};
    if (view) {
      tree.access = sandbox::Access::kReadOnly;
    } else if (!project.changes.empty()) {
      tree.changes = project.changes;
    } else {
      tree.capacity = CapacityFor(request, room.disk_bytes, room.disk_files);
    }
    policy.run.emplace_back(std::move(tree));
    if (project.repository) {
      const Repository& repository = *project.repository;
      policy.run.emplace_back(sandbox::OverlayTree{.source = repository.path,
                                                   .target = repository.path,
                                                   .links = sandbox::Links::kRefused,
                                                   .changes = repository.changes,
                                                   .covering = sandbox::Covering::kIntended,
                                                   .hidden = repository.hidden});
    }
    return;
  }
  policy.run.emplace_back(sandbox::HostTree{.source = project.path,
                                            .target = project.mount_point,
                                            .access = project.mode == ProjectMode::kReadWrite
                                                          ? sandbox::Access::kReadWrite
                                                          : sandbox::Access::kReadOnly,
                                            .links = sandbox::Links::kRefused,
                                            .map_owner = true,
                                            .hidden = project.hidden});
}

/// SECURITY: on the host's own inodes code could watch which programs the host and other sandboxes
/// start (inotify), and lock files that programs of the host lock (flock).
void GiveOwnInodes(std::vector<sandbox::Entry>& contents) {
  for (sandbox::Entry& entry : contents) {
    auto* tree = std::get_if<sandbox::HostTree>(&entry);
    if (tree != nullptr && tree->access == sandbox::Access::kReadOnly) tree->own_inodes = true;
  }
}

/// The environment's directories, written to in memory, in the place of those that all runs share.
Result<void> CopyRoot(const Environment& environment, const RunRequest& request,
                      sandbox::Policy& policy) {
  if (request.root == sandbox::Access::kReadOnly || environment.copied.empty()) return {};
  if (!request.views) {
    return Fail(Errc::kFailedPrecondition,
                "a run in '" + environment.name + "' writes to a copy of its files, which " +
                    std::string(request.backend) + " cannot make",
                "use the backend " + std::string(wall::kDefault.name));
  }
  const auto is_copied = [&](const sandbox::Entry& entry) {
    const auto* tree = std::get_if<sandbox::HostTree>(&entry);
    return tree != nullptr &&
           std::ranges::find(environment.copied, tree->target) != environment.copied.end();
  };
  const Capacity capacity =
      CapacityFor(request, environment.room.disk_bytes, environment.room.disk_files);
  for (const sandbox::Entry& entry : policy.environment) {
    if (!is_copied(entry)) continue;
    const auto& tree = std::get<sandbox::HostTree>(entry);
    policy.run.emplace_back(
        sandbox::OverlayTree{.source = tree.source, .target = tree.target, .capacity = capacity});
  }
  std::erase_if(policy.environment, is_copied);
  return {};
}

/// Everything is made by its own user, so the run may change it unless its home is read-only.
void AddFiles(const RunRequest& request, sandbox::Policy& policy) {
  const Place& place = request.place;
  if (place.directory != place.home) {
    policy.run.emplace_back(sandbox::EmptyDirectory{.path = place.directory});
  }
  for (const GivenFile& file : request.files) {
    policy.run.emplace_back(sandbox::TextFile{
        .path = place.directory + "/" + file.path, .content = file.content, .mode = file.mode});
  }
}

const Conveniences* ConveniencesFor(const Environment& environment, const RunRequest& request) {
  const bool program = std::holds_alternative<Code>(request.what) ||
                       std::holds_alternative<AwaitedCode>(request.what);
  return program ? ConveniencesOf(environment) : nullptr;
}

/// The code lives in a file of its own: any size, any byte, no quoting. Nobody inside can write
/// there.
void AddFile(std::vector<std::string> command, const RunRequest& request, sandbox::Entry file,
             sandbox::Policy& policy) {
  // The same size for every run, so that all of them can stand on one template.
  policy.run.emplace_back(MemoryTree{.target = kCodeDirectory,
                                     .capacity = CapacityFor(request, 65 * kMegabyte, 16),
                                     .access = sandbox::Access::kReadOnly});
  policy.argv = std::move(command);
  policy.argv.push_back(sandbox::TargetOf(file));
  policy.run.push_back(std::move(file));
}

std::string PlaceOf(std::string_view name) {
  return std::string(kCodeDirectory) + "/" + std::string(name);
}

Result<void> AddCode(const Environment& environment, const RunRequest& request, const Code& code,
                     sandbox::Policy& policy) {
  if (environment.passing == CodePassing::kArgument) {
    IGLOO_TRY(CheckArgument(environment, code.text));
    policy.argv = environment.interpreter;
    policy.argv.push_back(code.text);
    return {};
  }
  AddFile(FileCommand(environment), request,
          sandbox::TextFile{.path = PlaceOf(environment.code_file), .content = code.text}, policy);
  return {};
}

void AddDriver(const Environment& environment, const RunRequest& request, const Driver& driver,
               sandbox::Policy& policy) {
  AddFile(environment.interpreter, request,
          sandbox::TextFile{.path = PlaceOf(driver.file), .content = driver.text}, policy);
  if (!driver.program.empty()) {
    policy.run.emplace_back(sandbox::TextFile{.path = PlaceOf(driver.program)});
  }
}

Result<void> AddAwaitedCode(const Environment& environment, const RunRequest& request,
                            sandbox::Policy& policy) {
  if (!WaitsForFile(environment) || !request.hand_out) {
    return Fail(Errc::kInternal, "'" + environment.name + "' cannot wait for its code");
  }
  AddFile(environment.interpreter, request,
          sandbox::NamedPipe{.path = PlaceOf(environment.code_file)}, policy);
  policy.hand_out.emplace_back(kCodeDirectory);
  return {};
}

void AddConveniences(const Conveniences& conveniences, sandbox::Policy& policy) {
  for (const Conveniences::File& file : conveniences.Files()) {
    policy.run.emplace_back(
        sandbox::TextFile{.path = PlaceOf(file.name), .content = std::string(file.text)});
  }
  AddVariables(conveniences, policy.variables);
}

/// For programs that go by variables, in the ways in which they are written.
void NameProxy(std::map<std::string, std::string>& variables) {
  const std::string place = "127.0.0.1:" + std::to_string(network::kProxyPort);
  for (const char* name : {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"}) {
    variables[name] = "http://" + place;
  }
  // socks5h: names go to the proxy as they are, there is nobody inside to ask.
  for (const char* name : {"ALL_PROXY", "all_proxy"}) variables[name] = "socks5h://" + place;
  for (const char* name : {"NO_PROXY", "no_proxy"}) {
    variables[name] = "localhost,127.0.0.1,::1";
  }
  // Node asks for its variables to be asked for.
  variables["NODE_USE_ENV_PROXY"] = "1";
}

/// Only where /etc is igloo's own: a file of the environment's is not changed.
void NameResolver(const std::string& resolv_conf, std::vector<sandbox::Entry>& contents) {
  for (sandbox::Entry& entry : contents) {
    auto* file = std::get_if<sandbox::TextFile>(&entry);
    if (file == nullptr || file->path != "/etc/resolv.conf" || !file->content.empty()) continue;
    file->content = resolv_conf;
  }
}

Result<void> AddNetwork(const RunRequest& request, sandbox::Policy& policy) {
  const network::Wanted& wanted = request.network;
  IGLOO_TRY(network::Check(wanted));
  if (wanted.level == network::Level::kHost) {
    policy.network = sandbox::HostNetwork("somebody asked for the network 'host'");
    NameResolver(request.resolv_conf, policy.environment);
    return {};
  }
  if (!wanted.connected()) return {};
  sandbox::ConnectedNetwork network{.tier = std::string(ToText(wanted.level)),
                                    .rules = wanted.rules,
                                    .reach = wanted.reach,
                                    .raw_sockets = wanted.raw_sockets};
  for (const network::Secret& secret : wanted.secrets) {
    std::string text = secret.name + " for " + secret.domain.text() + ", in ";
    for (const std::string& header : secret.headers) {
      text += (&header == &secret.headers.front() ? "" : " or ") + header;
    }
    network.secrets.push_back(std::move(text));
  }
  for (const network::PublishedPort& port : wanted.publish) {
    network.publish.push_back({port.outside, port.inside});
  }
  if (wanted.level == network::Level::kInternet) network.device = request.device;
  if (network.device && !network.device->resolver.empty()) {
    NameResolver("nameserver " + network.device->resolver + "\n", policy.environment);
  }
  policy.network = std::move(network);
  if (wanted.proxied()) policy.listen.push_back(network::kProxyPort);
  policy.listen.insert(policy.listen.end(), wanted.reach.begin(), wanted.reach.end());
  policy.sockets = network::kSocketsPerPort * static_cast<std::uint32_t>(wanted.publish.size());
  if (wanted.proxied()) NameProxy(policy.variables);
  return {};
}

}  // namespace

bool DisplaysParts(const Environment& environment, const RunRequest& request) {
  return request.hand_out && ConveniencesFor(environment, request) != nullptr;
}

Result<sandbox::Policy> PolicyForRun(const Environment& environment, const RunRequest& request) {
  if (environment.interpreter.empty() && !std::holds_alternative<Program>(request.what)) {
    return Fail(Errc::kFailedPrecondition,
                "environment '" + environment.name + "' has no interpreter for code",
                "run a program of it: igloo run --env " + environment.name + " -- PROGRAM");
  }
  sandbox::Policy policy;
  policy.environment = environment.contents;
  if (request.views) GiveOwnInodes(policy.environment);
  policy.variables = environment.variables;
  policy.identity.name = request.place.user;
  if (request.place != Place{}) {
    NameUser(policy.environment, request.place.user, request.place.home);
  }
  policy.variables["HOME"] = request.place.home;
  policy.variables["TMPDIR"] = "/tmp";
  policy.variables["TERM"] = "dumb";
  policy.variables["USER"] = policy.identity.name;
  policy.variables["PWD"] = request.place.directory;
  IGLOO_TRY(AddNetwork(request, policy));
  for (const auto& [name, value] : request.variables) policy.variables[name] = value;
  policy.cwd = request.place.directory;
  policy.limits = environment.limits;
  if (request.time_ms) policy.limits.time_ms = *request.time_ms;
  if (request.memory_bytes) policy.limits.memory_bytes = *request.memory_bytes;
  if (request.millicpus) policy.limits.millicpus = *request.millicpus;
  if (request.processes) policy.limits.processes = *request.processes;
  if (request.open_files) policy.limits.open_files = *request.open_files;
  if (request.terminal) {
    policy.terminal = sandbox::Terminal::kOwn;
    policy.variables["TERM"] = *request.terminal;
  }
  policy.extra_descriptors = request.extra_descriptors;
  IGLOO_TRY(CopyRoot(environment, request, policy));
  AddWritablePlaces(environment.room, request, policy);
  AddFiles(request, policy);
  AddProject(environment.room, request, policy);
  const Conveniences* conveniences = ConveniencesFor(environment, request);
  if (request.hand_out) policy.hand_out.push_back(request.place.directory);
  if (request.hand_out && conveniences != nullptr) policy.hand_out.emplace_back(kDisplayParent);
  IGLOO_TRY(std::visit(Overloaded{
                           [&](const Code& code) -> Result<void> {
                             return AddCode(environment, request, code, policy);
                           },
                           [&](const AwaitedCode&) -> Result<void> {
                             return AddAwaitedCode(environment, request, policy);
                           },
                           [&](const Driver& driver) -> Result<void> {
                             AddDriver(environment, request, driver, policy);
                             return {};
                           },
                           [&](const Program& program) -> Result<void> {
                             policy.argv = program.argv;
                             return {};
                           },
                       },
                       request.what));
  if (conveniences != nullptr) AddConveniences(*conveniences, policy);
  if (policy.argv.empty()) {
    return Fail(Errc::kInvalidArgument, "there is no program to run",
                "write one behind '--', for example: -- /usr/bin/env");
  }
  return policy;
}

}  // namespace igloo::environment
