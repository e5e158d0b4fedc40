#include "cli/doctor/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "cli/doctor/watched.h"
#include "cli/run/execute.h"
#include "environment/host.h"

namespace igloo::cli {
namespace {

using State = Finding::State;

/// Prints one "name value" line per wall, as seen from inside, and waits to be seen from outside.
/// `@SECRET@` is a file of the host, `@MARKER@` the word to be found by.
constexpr std::string_view kProbe = R"sh(
while read -r key value rest; do
  case $key in
    CapInh:|CapPrm:|CapEff:|CapBnd:|CapAmb:|NoNewPrivs:|Seccomp:) echo "${key%:} $value";;
  esac
done < /proc/self/status
for ns in user mnt pid net ipc uts cgroup; do echo "ns-$ns $(readlink /proc/self/ns/$ns)"; done
read -r boot < /proc/sys/kernel/random/boot_id; echo "boot $boot"
echo "interfaces $(($(wc -l < /proc/net/dev) - 2))"
set -- /proc/[0-9]*; echo "processes $#"
read -r self rest < /proc/self/stat; [ "$self" = $$ ] && echo 'proc own' || echo 'proc foreign'
# bash itself holds two more: its script and the directory it lists here
set -- /proc/self/fd/*; echo "descriptors $(($# - 2))"
[ -e @SECRET@ ] && echo 'secret visible' || echo 'secret hidden'
(: > /usr/igloo-probe) 2>/dev/null && echo 'usr writable' || echo 'usr read-only'
(: > /igloo-probe) 2>/dev/null && echo 'root writable' || echo 'root read-only'
(: > /proc/sys/kernel/domainname) 2>/dev/null && echo 'sys writable' || echo 'sys read-only'
(: > /tmp/x && : > /workspace/x) 2>/dev/null && echo 'tmp writable' || echo 'tmp broken'
[ -z "${IGLOO_DOCTOR_SECRET-}" ] && echo 'variables clean' || echo 'variables leaked'
unshare -U true 2>/dev/null && echo 'nested possible' || echo 'nested refused'
# /dev/shm is the smallest of the bounded places: 64 MB
if (: > /dev/shm/x) 2>/dev/null; then
  head -c 65M /dev/zero 2>/dev/null > /dev/shm/x && echo 'shm boundless' || echo 'shm bounded'
  rm -f /dev/shm/x
fi
exec bash -c 'read -r line' @MARKER@
)sh";

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

Finding Failed(const std::string& name, const Error& error, bool required) {
  return {.name = name,
          .state = State::kMissing,
          .detail = error.what,
          .fix = error.hint,
          .required = required};
}

/// The host's own shell, whatever the user made of that name.
Result<sandbox::Plan> PlanForShell(const environment::RunRequest& request) {
  IGLOO_ASSIGN(const auto shell,
               environment::MakeHostEnvironment("shell", environment::ReadHostLayoutFor("shell")));
  return PlanFor(shell, request);
}

std::string TempParent() {
  const char* place = std::getenv("TMPDIR");
  return place != nullptr ? place : "/tmp";
}

Result<Watched> ExecuteUnseen(const sandbox::Plan& plan, backend::Backend& backend) {
  IGLOO_ASSIGN(session::RunResult result, Execute(plan, backend, {}, Signals::kDefault));
  return Watched{.result = std::move(result), .uid_map = {}};
}

Result<Seen> LookAtWalls(backend::Backend& backend, const wall::Capabilities& can) {
  IGLOO_ASSIGN(const TempDir secret, TempDir::Make(TempParent()));
  const std::string marker = "igloo-doctor-" + secret.path().substr(secret.path().rfind('/') + 1);
  environment::RunRequest request;
  request.what = environment::Code{
      Replace(Replace(std::string(kProbe), "@SECRET@", secret.path()), "@MARKER@", marker)};
  request.fine_memory_limits = can.fine_memory_limits;
  request.views = can.views;
  IGLOO_ASSIGN(const sandbox::Plan plan, PlanForShell(request));
  // No process of a machine with a kernel of its own can be seen from outside.
  IGLOO_ASSIGN(const Watched watched, can.own_kernel ? ExecuteUnseen(plan, backend)
                                                     : ExecuteWatched(plan, backend, marker));
  return Seen{.inside = watched.result.output.kept(),
              .own_kernel = can.own_kernel,
              .uid_map = watched.uid_map,
              .caller = ::geteuid(),
              .first_free_id = plan.identity.host_id_base,
              .landlock_abi = watched.result.usage.landlock_abi};
}

/// A socket in `directory` that accepts connections as long as it is kept.
Result<UniqueFd> ListenIn(const std::string& directory) {
  const UniqueFd place(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  // By descriptor: a socket's address has no room for a long path.
  fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}/socket",
                   place.get());
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), 1) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot listen in '" + directory + "'");
  }
  return listener;
}

/// Runs `code` on `project` and gives what it printed.
Result<std::string> TryProject(backend::Backend& backend, const TempDir& project,
                               environment::ProjectMode mode, std::string_view code) {
  environment::RunRequest request;
  request.what = environment::Code{std::string(code)};
  request.project = environment::Project{project.path(), mode};
  IGLOO_ASSIGN(const sandbox::Plan plan, PlanForShell(request));
  IGLOO_ASSIGN(const session::RunResult result, Execute(plan, backend, {}, Signals::kDefault));
  return result.output.kept();
}

/// Bash has no words for such sockets. 42: connected; 7: tried in vain; else there is no perl.
constexpr std::string_view kProbeView = R"sh(
cat /project/file
(echo changed > /project/file || : > /project/new) 2>/dev/null && echo writable
[ -S /project/socket ] || echo no socket
perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or exit 7;
  exit(connect(S, sockaddr_un("/project/socket")) ? 42 : 7)' 2>/dev/null
case $? in 42) echo 'socket reached';; 7) echo 'socket closed';; *) echo 'socket untried';; esac
)sh";

}  // namespace

std::vector<Finding> ProbeWalls(const std::string& prefix, backend::Backend& backend,
                                const wall::Capabilities& can, bool required,
                                const backend::IdRange& ids) {
  // SECURITY: the variable that must not arrive inside.
  ::setenv("IGLOO_DOCTOR_SECRET", "1", 1);
  auto seen = LookAtWalls(backend, can);
  ::unsetenv("IGLOO_DOCTOR_SECRET");
  if (!seen) return {Failed(prefix + "sandbox", seen.error(), required)};
  seen->subordinate = ids;
  return CheckWalls(prefix, *seen, required);
}

Finding ProbeOverlay(backend::Backend& backend) {
  const std::string name = "overlay project";
  const auto attempt = [&]() -> Result<bool> {
    IGLOO_ASSIGN(const TempDir project, TempDir::Make(TempParent()));
    IGLOO_ASSIGN(const std::string said,
                 TryProject(backend, project, environment::ProjectMode::kOverlay,
                            "echo changed > /project/file && cat /project/file"));
    const bool leaked = ::access((project.path() + "/file").c_str(), F_OK) == 0;
    return said == "changed\n" && !leaked;
  };
  const auto good = attempt();
  if (!good) return Failed(name, good.error(), false);
  return Wall(name, *good, "changes stay in the sandbox", "changes did not stay in the sandbox",
              false);
}

Finding ProbeView(backend::Backend& backend) {
  const std::string name = "read-only project";
  const auto attempt = [&]() -> Result<std::string> {
    IGLOO_ASSIGN(const TempDir project, TempDir::Make(TempParent()));
    std::ofstream(project.path() + "/file") << "as it was\n";
    IGLOO_ASSIGN(const UniqueFd listener, ListenIn(project.path()));
    IGLOO_ASSIGN(std::string said,
                 TryProject(backend, project, environment::ProjectMode::kReadOnly, kProbeView));
    IGLOO_ASSIGN(const std::string left, ReadFile(project.path() + "/file", 4096));
    return said + (left == "as it was\n" ? "" : "changed\n");
  };
  const auto said = attempt();
  if (!said) return Failed(name, said.error(), false);
  const bool untried = *said == "as it was\nsocket untried\n";
  return Wall(name, untried || *said == "as it was\nsocket closed\n",
              untried ? "readable, not writable (without perl its sockets were not tried)"
                      : "readable, not writable, its sockets out of reach",
              "saw '" + *said + "'", false);
}

}  // namespace igloo::cli
