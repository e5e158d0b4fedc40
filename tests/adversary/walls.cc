#include "walls.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "backend/bubblewrap/bubblewrap.h"
#include "backend/jail/jail.h"
#include "base/file.h"
#include "base/text.h"
#include "environment/facts.h"
#include "environment/host.h"
#include "environment/run_policy.h"
#include "restored.h"
#include "session/asio.h"
#include "session/run.h"

namespace igloo::testing {
namespace {

namespace asio = boost::asio;

Result<std::unique_ptr<backend::Backend>> MakeBackend(Wall wall) {
  const std::string bin = BinDirectory();
  if (wall == Wall::kBubblewrap) return backend::bubblewrap::Make(bin + "/igloo-init");
  auto jail = std::make_unique<backend::jail::JailBackend>(
      backend::Programs{bin + "/igloo-jail", bin + "/igloo-init"},
      wall == Wall::kPrepared ? backend::jail::Mode::kPrepared : backend::jail::Mode::kCold);
  return jail;
}

Outcome Refused(const Error& error) { return {.status = -1, .err = error.what}; }

std::vector<std::string> Joined(std::vector<std::string> first,
                                const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<pid_t> ProcessesWith(const std::string& marker) {
  std::vector<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    // A process may be gone by now.
    const auto line = ReadFile(entry.path().string() + "/cmdline", 1U << 20);
    if (line && line->find('\0' + marker + '\0') != std::string::npos) {
      pids.push_back(std::stoi(name));
    }
  }
  return pids;
}

}  // namespace

std::string Name(Wall wall) {
  switch (wall) {
    case Wall::kJail:
      return "jail";
    case Wall::kPrepared:
      return "prepared";
    case Wall::kRestored:
      return "restored";
    case Wall::kWatched:
      return "watched";
    case Wall::kBubblewrap:
      return "bubblewrap";
  }
  return "?";
}

sandbox::Policy PolicyFor(Wall wall, const Scene& scene, std::vector<std::string> argv) {
  if (wall == Wall::kRestored) {
    sandbox::Policy policy = PolicyForRestored(scene);
    policy.argv = std::move(argv);
    return policy;
  }
  const auto environment =
      environment::MakeHostEnvironment("shell", environment::ReadHostLayout()).value();
  environment::RunRequest request{.what = environment::Program{std::move(argv)},
                                  .project = environment::Project{.path = scene.project()},
                                  .fine_memory_limits = wall != Wall::kBubblewrap,
                                  .views = wall != Wall::kBubblewrap};
  sandbox::Policy policy = environment::PolicyForRun(environment, request).value();
  if (wall == Wall::kBubblewrap && RunningAsRoot()) {
    // igloo refuses a project here, because its files could not belong to the sandbox's user. The
    // attacks do not need that: everybody may read them.
    for (sandbox::Entry& entry : policy.run) {
      if (auto* tree = std::get_if<sandbox::HostTree>(&entry)) tree->map_owner = false;
    }
  }
  return policy;
}

Outcome RunPlan(Wall wall, const sandbox::Plan& plan) {
  auto backend = MakeBackend(wall);
  if (!backend) return Refused(backend.error());
  asio::io_context loop(1);
  session::RunIo io;
  if (wall == Wall::kWatched) io.watched = wire::Watched::kFiles;
  session::Run run(loop, plan, **backend, std::move(io));
  std::optional<Result<session::RunResult>> result;
  asio::co_spawn(loop, run.Execute(), [&](std::exception_ptr, Result<session::RunResult> value) {
    result = std::move(value);
    loop.stop();
  });
  loop.run();
  if (!*result) return Refused(result->error());
  return {.status = (*result)->exit_code,
          .out = (*result)->output.kept(),
          .err = (*result)->error.kept()};
}

Outcome AttackBehind(Wall wall, const Scene& scene, std::vector<std::string> words,
                     const Change& change) {
  const auto argv = Joined({"/project/igloo-attack"}, scene.Fill(std::move(words), Side::kInside));
  sandbox::Policy policy = PolicyFor(wall, scene, argv);
  if (change) change(policy);
  if (wall == Wall::kRestored) {
    const auto program = std::exchange(policy.argv, PolicyForRestored(scene).argv);
    return RunRestored(std::move(policy), program);
  }
  const auto plan = sandbox::MakePlan(policy, environment::GatherFacts(sandbox::SourcesOf(policy)));
  if (!plan) return Refused(plan.error());
  return RunPlan(wall, *plan);
}

Outcome AttackOnHost(const Scene& scene, std::vector<std::string> words) {
  return RunProgram({.program = scene.attack_program(),
                     .args = scene.Fill(std::move(words), Side::kHost),
                     .env = Scene::Variables(),
                     .reset_signals = false});
}

Outcome AttackOnHostAsUser(const Scene& scene, std::vector<std::string> words) {
  if (!RunningAsRoot()) return AttackOnHost(scene, std::move(words));
  const std::vector<std::string> user = {"--reuid=12345", "--regid=12345", "--clear-groups",
                                         scene.attack_program()};
  return RunProgram({.program = "/usr/bin/setpriv",
                     .args = Joined(user, scene.Fill(std::move(words), Side::kHost)),
                     .env = Scene::Variables()});
}

Outcome AttackInOwnNamespaces(const Scene& scene, std::vector<std::string> words) {
  words.insert(words.begin(), "--control-userns");
  return AttackOnHost(scene, std::move(words));
}

std::vector<std::string> IglooArguments(Wall wall, const Scene& scene,
                                        const std::vector<std::string>& words) {
  const Outcome encoded =
      RunProgram({.program = "/usr/bin/base64", .args = {scene.attack_program()}});
  std::string code = "base64 -d >/tmp/igloo-attack <<'END'\n" + encoded.out +
                     "END\nchmod 755 /tmp/igloo-attack\nexec /tmp/igloo-attack";
  for (const std::string& word : scene.Fill(words, Side::kInside)) code += " " + ShellQuote(word);
  const std::string file = scene.path() + "/attack.sh";
  std::ofstream(file) << code << "\n";
  return {"run", "--env", "shell", "--backend", Name(wall), "--file", file};
}

int CountProcesses(const std::string& marker) {
  return static_cast<int>(ProcessesWith(marker).size());
}

void EndProcesses(const std::string& marker) {
  for (const pid_t pid : ProcessesWith(marker)) ::kill(pid, SIGKILL);
}

}  // namespace igloo::testing
