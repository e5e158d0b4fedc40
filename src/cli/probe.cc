#include "cli/probe.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "cli/execute.h"
#include "environment/host.h"

namespace igloo::cli {
namespace {

using State = Finding::State;

/// Prints one "name value" line per wall, as seen from inside. `SECRET` is a file of the host.
constexpr std::string_view kProbe = R"sh(
while read -r key value rest; do
  case $key in
    CapInh:|CapPrm:|CapEff:|CapBnd:|CapAmb:|NoNewPrivs:|Seccomp:) echo "${key%:} $value";;
  esac
done < /proc/self/status
read -r inside outside count < /proc/self/uid_map; echo "uid $inside $outside $count"
for ns in user mnt pid net ipc uts cgroup; do echo "ns-$ns $(readlink /proc/self/ns/$ns)"; done
echo "interfaces $(($(wc -l < /proc/net/dev) - 2))"
set -- /proc/[0-9]*; echo "processes $#"
# bash itself holds two more: its script and the directory it lists here
set -- /proc/self/fd/*; echo "descriptors $(($# - 2))"
[ -e SECRET ] && echo 'secret visible' || echo 'secret hidden'
(: > /usr/igloo-probe) 2>/dev/null && echo 'usr writable' || echo 'usr read-only'
(: > /igloo-probe) 2>/dev/null && echo 'root writable' || echo 'root read-only'
(: > /proc/sys/kernel/domainname) 2>/dev/null && echo 'sys writable' || echo 'sys read-only'
(: > /tmp/x && : > /workspace/x) 2>/dev/null && echo 'tmp writable' || echo 'tmp broken'
[ -z "${IGLOO_DOCTOR_SECRET-}" ] && echo 'variables clean' || echo 'variables leaked'
unshare -U true 2>/dev/null && echo 'nested possible' || echo 'nested refused'
)sh";

using Facts = std::map<std::string, std::string>;

Facts Parse(const std::string& text) {
  Facts facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) facts[line.substr(0, space)] = line.substr(space + 1);
  }
  return facts;
}

/// Compares what was seen with what must be seen.
class Judge {
 public:
  Judge(std::string prefix, Facts facts, bool required)
      : prefix_(std::move(prefix)), facts_(std::move(facts)), required_(required) {}

  void Expect(const std::string& name, const std::string& key, const std::string& wanted,
              const std::string& detail) {
    Add(name, facts_[key] == wanted, detail,
        fmt::format("expected '{}', saw '{}'", wanted, facts_[key]));
  }

  void Add(const std::string& name, bool good, const std::string& detail,
           const std::string& trouble) {
    findings_.push_back({.name = prefix_ + name,
                         .state = good ? State::kGood : State::kBroken,
                         .detail = good ? detail : trouble,
                         .fix = good ? "" : "this is a hole in the wall; please report it",
                         .required = required_});
  }

  std::string Fact(const std::string& key) const {
    const auto found = facts_.find(key);
    return found == facts_.end() ? "" : found->second;
  }
  std::vector<Finding> Take() && { return std::move(findings_); }

 private:
  std::string prefix_;
  Facts facts_;
  bool required_;
  std::vector<Finding> findings_ = {};
};

bool HasForeignNamespaces(const Judge& judge) {
  for (const char* name : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
    const auto own = ReadLink(std::string("/proc/self/ns/") + name);
    const std::string inside = judge.Fact(std::string("ns-") + name);
    if (!own || inside.empty() || *own == inside) return false;
  }
  return true;
}

std::vector<Finding> Inspect(const std::string& prefix, const session::RunResult& result,
                             bool required) {
  Judge judge(prefix, Parse(result.output.kept()), required);
  judge.Add("namespaces", HasForeignNamespaces(judge), "user mount pid net ipc uts cgroup",
            "shares a namespace with the host");
  const std::string uid = judge.Fact("uid");
  judge.Add("identity", uid.starts_with("1000 ") && !uid.starts_with("1000 0 "),
            "one unprivileged id (" + uid + ")", "mapped to the host's root (" + uid + ")");
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    if (judge.Fact(set) != "0000000000000000") judge.Expect("capabilities", set, "0", "none");
  }
  judge.Expect("capabilities", "CapEff", "0000000000000000", "none in any set");
  judge.Expect("no_new_privs", "NoNewPrivs", "1", "set");
  judge.Expect("seccomp", "Seccomp", "2", "filter installed");
  judge.Expect("nested user namespaces", "nested", "refused", "refused");
  judge.Expect("network", "interfaces", "1", "loopback and nothing else");
  judge.Expect("descriptors", "descriptors", "3", "0, 1 and 2 only");
  judge.Expect("variables", "variables", "clean", "none of the host's");
  judge.Expect("host files", "secret", "hidden", "not visible");
  judge.Expect("/usr", "usr", "read-only", "read-only");
  judge.Expect("root", "root", "read-only", "read-only");
  judge.Expect("/proc/sys", "sys", "read-only", "read-only");
  judge.Expect("/tmp and /workspace", "tmp", "writable", "writable, in memory");
  std::vector<Finding> findings = std::move(judge).Take();
  const bool landlock = result.usage.landlock_abi > 0;
  findings.push_back({.name = prefix + "landlock",
                      .state = landlock ? State::kGood : State::kMissing,
                      .detail = landlock ? fmt::format("version {}", result.usage.landlock_abi)
                                         : "this kernel has none; the other walls stand",
                      .fix = landlock ? "" : "boot with lsm=landlock,... (Linux 5.13 or newer)",
                      .required = false});
  return findings;
}

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

}  // namespace

std::vector<Finding> ProbeWalls(const std::string& prefix, backend::Backend& backend,
                                bool fine_memory_limits, bool required) {
  const auto attempt = [&]() -> Result<session::RunResult> {
    IGLOO_ASSIGN(const TempDir secret, TempDir::Make(TempParent()));
    environment::RunRequest request;
    request.what = environment::Code{Replace(std::string(kProbe), "SECRET", secret.path())};
    request.fine_memory_limits = fine_memory_limits;
    IGLOO_ASSIGN(const sandbox::Plan plan, PlanForShell(request));
    return Execute(plan, backend, {}, Signals::kDefault);
  };
  // SECURITY: the variable that must not arrive inside.
  ::setenv("IGLOO_DOCTOR_SECRET", "1", 1);
  const auto result = attempt();
  ::unsetenv("IGLOO_DOCTOR_SECRET");
  if (!result) return {Failed(prefix + "sandbox", result.error(), required)};
  return Inspect(prefix, *result, required);
}

Finding ProbeOverlay(backend::Backend& backend) {
  const auto attempt = [&]() -> Result<bool> {
    IGLOO_ASSIGN(const TempDir project, TempDir::Make(TempParent()));
    environment::RunRequest request;
    request.what = environment::Code{"echo changed > /project/file && cat /project/file"};
    request.project = environment::Project{project.path(), environment::ProjectMode::kOverlay};
    IGLOO_ASSIGN(const sandbox::Plan plan, PlanForShell(request));
    IGLOO_ASSIGN(const session::RunResult result, Execute(plan, backend, {}, Signals::kDefault));
    const bool leaked = ::access((project.path() + "/file").c_str(), F_OK) == 0;
    return result.output.kept() == "changed\n" && !leaked;
  };
  const auto good = attempt();
  if (!good) return Failed("overlay project", good.error(), false);
  return {.name = "overlay project",
          .state = *good ? State::kGood : State::kBroken,
          .detail = *good ? "changes stay in the sandbox" : "changes did not stay in the sandbox",
          .fix = *good ? "" : "this is a hole in the wall; please report it",
          .required = false};
}

}  // namespace igloo::cli
