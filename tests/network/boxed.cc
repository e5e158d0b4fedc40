#include "boxed.h"

#include <dirent.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/file.h"

namespace igloo::testing {
namespace {

/// Where igloo finds its configuration: the Internet's own name server.
const std::string& ConfigurationHome() {
  static const TempDir home = [] {
    TempDir made = TempDir::Make(TempParent()).value();
    std::ofstream(made.path() + "/config.toml")
        << "[network]\nresolver = \"93.184.216.53\"\n"
           "[environments.web]\npreset = \"python\"\nnetwork = \"allow\"\n"
           "allow = [\"example.com\"]\n"
           "[secrets.TOKEN]\nvariable = \"REAL_KEY\"\nhosts = [\"example.com\"]\n"
           "header = \"X-Key\"\n"
           "[environments.keyed]\npreset = \"python\"\nnetwork = \"allow\"\n"
           "allow = [\"example.com\"]\nsecrets = [\"TOKEN\"]\n";
    Shell("chmod -R a+rX " + made.path());
    return made;
  }();
  static const std::string path = home.path();
  return path;
}

}  // namespace

std::string WebConfiguration() { return ConfigurationHome() + "/config.toml"; }

Invocation OutsideInvocation(std::vector<std::string> words, std::vector<std::string> variables) {
  Invocation invocation;
  invocation.env = std::move(variables);
  invocation.env.insert(invocation.env.end(),
                        {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8",
                         "SSL_CERT_FILE=" + World::Get().roots_file(),
                         "XDG_STATE_HOME=" + ConfigurationHome() + "/state"});
  words.insert(words.begin(), BinDirectory() + "/igloo");
  if (!World::IsRoot()) {
    // Root of the tests' own user namespace is nobody outside of it, and has no ids to give away.
    const std::vector<std::string> user = {"/usr/bin/unshare", "--user", "--map-user=1000",
                                           "--map-group=1000"};
    words.insert(words.begin(), user.begin(), user.end());
  }
  invocation.program = words.front();
  invocation.args.assign(words.begin() + 1, words.end());
  return invocation;
}

Invocation BoxedInvocation(std::vector<std::string> words, std::vector<std::string> variables) {
  const std::vector<std::string> run = {"run", "--config", WebConfiguration()};
  words.insert(words.begin(), run.begin(), run.end());
  return OutsideInvocation(std::move(words), std::move(variables));
}

Outcome Boxed(std::vector<std::string> words, std::string input,
              std::vector<std::string> variables) {
  Invocation invocation = BoxedInvocation(std::move(words), std::move(variables));
  invocation.input = std::move(input);
  return RunProgram(invocation);
}

pid_t ChildNamed(pid_t pid, const std::string& name) {
  const std::string task = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid);
  std::ifstream children(task + "/children");
  for (pid_t child = 0; children >> child;) {
    std::ifstream comm("/proc/" + std::to_string(child) + "/comm");
    std::string said;
    std::getline(comm, said);
    if (said == name) return child;
    if (const pid_t below = ChildNamed(child, name); below > 0) return below;
  }
  return -1;
}

}  // namespace igloo::testing
