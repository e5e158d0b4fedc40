#include "bench/peers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "bench/oci.h"

namespace igloo::bench {
namespace {

/// As root, the sandbox's root is nobody that the machine knows; a user can only be himself.
uid_t Owner() { return ::geteuid() == 0 ? 100'000 : ::geteuid(); }

Words Joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Result<std::string> WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text << std::flush)) return Fail(Errc::kInternal, "cannot write '" + path + "'");
  return path;
}

/// A bundle directory for one program; its name is the sandbox's.
struct Bundle {
  std::string name = {}, path = {};
};

Result<Bundle> MakeBundle(Ground& ground, const Words& inside) {
  Bundle bundle{.name = ground.NextName()};
  bundle.path = ground.directory() + "/" + bundle.name;
  std::filesystem::create_directory(bundle.path);
  IGLOO_TRY(WriteFile(bundle.path + "/config.json", OciConfig(ground.root(), inside, Owner())));
  return bundle;
}

Result<Command> Igloo(const std::string& program, Ground&, const Words& inside) {
  return Command{Joined({program, "run", "--env", "shell", "--"}, inside)};
}

Result<Command> Bwrap(const std::string& program, Ground&, const Words& inside) {
  return Command{Joined({program,     "--unshare-all", "--die-with-parent",
                         "--ro-bind", "/usr",          "/usr",
                         "--symlink", "usr/bin",       "/bin",
                         "--symlink", "usr/lib",       "/lib",
                         "--symlink", "usr/lib64",     "/lib64",
                         "--proc",    "/proc",         "--dev",
                         "/dev",      "--tmpfs",       "/tmp",
                         "--"},
                        inside)};
}

Result<Command> Crun(const std::string& program, Ground& ground, const Words& inside) {
  IGLOO_ASSIGN(const Bundle bundle, MakeBundle(ground, inside));
  // igloo makes no control group either, and making one is most of the time of a crun that does.
  return Command{{program, "--root", ground.directory() + "/crun", "--cgroup-manager=disabled",
                  "run", "--bundle", bundle.path, bundle.name}};
}

Result<Command> Runc(const std::string& program, Ground& ground, const Words& inside) {
  IGLOO_ASSIGN(const Bundle bundle, MakeBundle(ground, inside));
  return Command{{program, "--root", ground.directory() + "/runc", "run", "--bundle", bundle.path,
                  bundle.name}};
}

Result<Command> Runsc(const std::string& program, Ground& ground, const Words& inside) {
  IGLOO_ASSIGN(const Bundle bundle, MakeBundle(ground, inside));
  return Command{{program, "--root", ground.directory() + "/runsc", "--network=none",
                  "--ignore-cgroups", "run", "--bundle", bundle.path, bundle.name}};
}

Result<Command> Nspawn(const std::string& program, Ground& ground, const Words& inside) {
  return Command{
      Joined({program, "--quiet", "--directory=" + ground.root(), "--machine=" + ground.NextName(),
              "--read-only", "--bind-ro=/usr", "--private-network", "--private-users=100000:65536",
              "--register=no", "--keep-unit", "--pipe", "--settings=no", "--timezone=off",
              "--resolv-conf=off", "--link-journal=no", "--no-new-privileges=yes",
              "--drop-capability=all"},
             inside)};
}

Result<Command> Firejail(const std::string& program, Ground&, const Words& inside) {
  return Command{Joined({program, "--quiet", "--noprofile", "--net=none", "--private",
                         "--private-dev", "--private-tmp", "--ipc-namespace", "--hostname=sandbox",
                         "--seccomp", "--caps.drop=all", "--nonewprivs", "--noroot", "--"},
                        inside)};
}

Result<Command> Srt(const std::string& program, Ground& ground, const Words& inside) {
  IGLOO_ASSIGN(const std::string settings,
               WriteFile(ground.directory() + "/srt.json",
                         R"({"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem":)"
                         R"( {"denyRead": [], "allowWrite": ["/tmp"], "denyWrite": []}})"));
  return Command{Joined({program, "--settings", settings}, inside)};
}

/// Its command has had three names.
Result<Command> Codex(const std::string& program, Ground& ground, const Words& inside) {
  const Words environment = {"CODEX_HOME=" + ground.cache() + "/codex-home"};
  static const Words form = [&] {
    for (const Words& each :
         {Words{"sandbox", "--"}, {"sandbox", "linux"}, {"debug", "landlock"}}) {
      const Words words = Joined(Joined({program}, each), {"/bin/true"});
      if (RunSpawned({words, environment})) return each;
    }
    return Words{"sandbox", "--"};
  }();
  return Command{Joined(Joined({program}, form), inside), environment};
}

constexpr const char* kMakePeers = "make bench-peers";

constexpr std::array<Peer, 9> kPeers = {{
    {"one_shot", "igloo run", "", "make build",
     "Landlock, and limits on memory, processes and time", 1, Igloo},
    {"bwrap", "bwrap", "bwrap", "apt-get install bubblewrap",
     "a filter would be the caller's own program", 1, Bwrap},
    {"crun", "crun", "crun", "apt-get install crun", "igloo's list of denied calls", 1, Crun},
    {"runc", "runc", "runc", "apt-get install runc",
     "igloo's list of denied calls; a control group, which it always makes", 1, Runc},
    {"firejail", "firejail", "firejail", "apt-get install firejail",
     "set-uid root; shows the host's files but /home and /tmp", 1, Firejail},
    {"nspawn", "systemd-nspawn", "systemd-nspawn", "apt-get install systemd-container",
     "only root can use it", 1, Nspawn},
    {"runsc", "runsc (gVisor)", "runsc", "apt-get install runsc",
     "a kernel of its own in user space, itself in namespaces and behind a filter", 2, Runsc},
    {"codex", "codex sandbox", "node_modules/@openai/codex-linux-*/vendor/*/bin/codex", kMakePeers,
     "its program itself, without the npm launcher", 1, Codex},
    {"srt", "srt", "node_modules/.bin/srt", kMakePeers,
     "its command; two proxies stand ready for allowed domains", 2, Srt},
}};

/// Each '*' is one directory, the first that fits.
std::string Expand(const std::filesystem::path& base, std::string_view pattern) {
  std::filesystem::path path = base;
  for (const auto& part : std::filesystem::path(pattern)) {
    const std::string name = part.string();
    const std::size_t star = name.find('*');
    if (star == std::string::npos) {
      path /= part;
      continue;
    }
    std::error_code error;
    std::filesystem::path found;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      if (entry.path().filename().string().starts_with(name.substr(0, star))) found = entry.path();
    }
    if (found.empty()) return {};
    path = found;
  }
  return path.string();
}

}  // namespace

Result<Ground> Ground::Make(std::string programs, std::string cache) {
  IGLOO_ASSIGN(TempDir directory, TempDir::Make("/tmp"));
  Ground ground(std::move(directory));
  // A sandbox's user is nobody outside, and must reach its root.
  ::chmod(ground.directory().c_str(), 0755);
  IGLOO_TRY(MakeRoot(ground.root()));
  ground.programs_ = std::move(programs);
  ground.cache_ = std::move(cache);
  return ground;
}

std::span<const Peer> Peers() { return kPeers; }

Result<Command> Through(std::string_view key, Ground& ground, const Words& inside) {
  const auto* peer = std::ranges::find(kPeers, key, &Peer::key);
  const std::string program = FindProgram(*peer, ground);
  if (program.empty()) {
    return Fail(Errc::kNotFound, std::string(peer->name) + " is not installed",
                std::string(peer->install));
  }
  return peer->command(program, ground, inside);
}

std::string FindProgram(const Peer& peer, const Ground& ground) {
  const auto usable = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; };
  if (peer.program.empty()) return ground.programs() + "/igloo";
  if (peer.program.contains('/')) {
    if (ground.cache().empty()) return {};
    std::string path = Expand(ground.cache(), peer.program);
    return usable(path) ? path : "";
  }
  for (const char* place : {"/usr/local/bin/", "/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"}) {
    std::string path = place + std::string(peer.program);
    if (usable(path)) return path;
  }
  return {};
}

}  // namespace igloo::bench
