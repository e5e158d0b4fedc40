#include "cli/doctor/wall_checks.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <sstream>

#include "base/file.h"

namespace igloo::cli {
namespace {

using State = Finding::State;

/// The probe itself, igloo-init, and what either of them just started.
constexpr int kMostProcesses = 5;

std::map<std::string, std::string> Parse(const std::string& text) {
  std::map<std::string, std::string> facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.find(' ');
    if (space != std::string::npos) facts[line.substr(0, space)] = line.substr(space + 1);
  }
  return facts;
}

class Judge {
 public:
  Judge(std::string prefix, const Seen& seen, bool required)
      : prefix_(std::move(prefix)), seen_(seen), facts_(Parse(seen.inside)), required_(required) {}

  void Expect(const std::string& name, const std::string& key, const std::string& wanted,
              const std::string& detail) {
    Add(name, Fact(key) == wanted, detail,
        fmt::format("expected '{}', saw '{}'", wanted, Fact(key)));
  }

  void ExpectForeignNamespaces() {
    std::string shared;
    for (const char* name : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
      const auto own = ReadLink(std::string("/proc/self/ns/") + name);
      const std::string inside = Fact(std::string("ns-") + name);
      const bool known = own && inside.starts_with(std::string(name) + ":[");
      if (!known || *own == inside) shared += std::string(" ") + name;
    }
    Add("namespaces", shared.empty(), "user mount pid net ipc uts cgroup",
        "shared with the host:" + shared);
  }

  /// Each kernel has an id of its own for each time it is started.
  void ExpectOwnKernel() {
    std::string own = ReadFile("/proc/sys/kernel/random/boot_id", 64).value_or("");
    while (own.ends_with('\n')) own.pop_back();
    const std::string inside = Fact("boot");
    Add("kernel", !inside.empty() && inside != own, "its own", "the host's");
  }

  void ExpectNoCapabilities() {
    std::string held;
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
      if (Fact(set) != "0000000000000000") held += fmt::format(" {}={}", set, Fact(set));
    }
    Add("capabilities", held.empty(), "none in any set", "holds" + held);
  }

  /// SECURITY: started by root, the code must be nobody's id outside; else the caller's own, or one
  /// of those that were given to the caller.
  void ExpectIdentity() {
    if (seen_.uid_map.empty()) {
      // hidepid of the host's /proc, say; only root has an id to lose.
      findings_.push_back({.name = prefix_ + "identity",
                           .state = State::kMissing,
                           .detail = "the code could not be looked at from outside",
                           .fix = "try again; mount /proc without hidepid",
                           .required = required_ && seen_.caller == 0});
      return;
    }
    std::istringstream words(seen_.uid_map);
    std::uint64_t inside = 0;
    std::uint64_t outside = 0;
    std::uint64_t count = 0;
    words >> inside >> outside >> count;
    const bool whole = !words.fail() && (words >> std::ws).eof();
    const backend::IdRange& own = seen_.subordinate;
    const bool harmless = seen_.caller == 0 ? outside >= seen_.first_free_id
                          : own.count == 0  ? outside == seen_.caller
                                            : outside - own.first < own.count;
    Add("identity", whole && inside == 1000 && count == 1 && harmless,
        fmt::format("one unprivileged id ({} is {} outside)", inside, outside),
        fmt::format("'{}' outside", seen_.uid_map));
  }

  void ExpectFewProcesses() {
    const std::string text = Fact("processes");
    int count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    Add("processes", count > 0 && count <= kMostProcesses && Fact("proc") == "own",
        "none of the host's", fmt::format("sees {} in {} /proc", text, Fact("proc")));
  }

  void SayLandlock() {
    const bool landlock = seen_.landlock_abi > 0;
    findings_.push_back({.name = prefix_ + "landlock",
                         .state = landlock ? State::kGood : State::kMissing,
                         .detail = landlock ? fmt::format("version {}", seen_.landlock_abi)
                                            : "none; see 'weaker landlock' above",
                         .fix = "",
                         .required = false});
  }

  std::vector<Finding> Take() && { return std::move(findings_); }

 private:
  void Add(const std::string& name, bool good, std::string detail, std::string trouble) {
    findings_.push_back(
        Wall(prefix_ + name, good, std::move(detail), std::move(trouble), required_));
  }
  std::string Fact(const std::string& key) const {
    const auto found = facts_.find(key);
    return found == facts_.end() ? "" : found->second;
  }

  std::string prefix_;
  const Seen& seen_;
  std::map<std::string, std::string> facts_;
  bool required_;
  std::vector<Finding> findings_ = {};
};

}  // namespace

Finding Wall(std::string name, bool good, std::string detail, std::string trouble, bool required) {
  return {.name = std::move(name),
          .state = good ? State::kGood : State::kBroken,
          .detail = good ? std::move(detail) : std::move(trouble),
          .fix = good ? "" : "this is a hole in the wall; please report it",
          .required = required};
}

std::vector<Finding> CheckWalls(const std::string& prefix, const Seen& seen, bool required) {
  Judge judge(prefix, seen, required);
  if (seen.own_kernel) {
    judge.ExpectOwnKernel();
  } else {
    judge.ExpectForeignNamespaces();
    judge.ExpectIdentity();
  }
  judge.ExpectNoCapabilities();
  judge.Expect("no_new_privs", "NoNewPrivs", "1", "set");
  judge.Expect("seccomp", "Seccomp", "2", "filter installed");
  judge.Expect("nested user namespaces", "nested", "refused", "refused");
  judge.Expect("network", "interfaces", "1", "loopback and nothing else");
  judge.ExpectFewProcesses();
  judge.Expect("descriptors", "descriptors", "3", "0, 1 and 2 only");
  judge.Expect("variables", "variables", "clean", "none of the host's");
  judge.Expect("host files", "secret", "hidden", "not visible");
  judge.Expect("/usr", "usr", "read-only", "read-only");
  judge.Expect("root", "root", "read-only", "read-only");
  judge.Expect("/proc/sys", "sys", "read-only", "read-only");
  judge.Expect("/tmp and /workspace", "tmp", "writable", "writable, in memory");
  judge.Expect("limits", "shm", "bounded", "memory that is full takes no more");
  judge.SayLandlock();
  return std::move(judge).Take();
}

}  // namespace igloo::cli
