#include "bench/boxes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/spawn.h"

namespace igloo::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kProjectFiles = 200;
constexpr int kProcesses = 1000;
/// Of /etc, what the older launchers show.
constexpr const char* kEtc[] = {"resolv.conf", "hosts", "nsswitch.conf", "ssl",
                                "passwd",      "group", "static",        "nix"};
constexpr const char* kMoreEtc[] = {"ca-certificates", "pki",         "fonts",     "localtime",
                                    "zoneinfo",        "locale.conf", "machine-id"};

void Append(Words& words, Words more) {
  for (std::string& each : more) words.push_back(std::move(each));
}

void ShowEtc(Words& words, auto& names) {
  for (const char* name : names) {
    const std::string path = std::string("/etc/") + name;
    Append(words, {"--ro-bind-try", path, path});
  }
}

/// What both need for the host's programs, in the place of the Nix store.
void ShowPrograms(Words& words) {
  Append(words,
         {"--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib",
          "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind-try", "/nix/store", "/nix/store"});
}

void SetVariables(Words& words, const std::string& home) {
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"HOME", home},
           {"PATH", home + "/.local/bin:/usr/bin:/bin"},
           {"TERM", "dumb"},
           {"LANG", "C.UTF-8"},
           {"USER", "ann"},
           {"SHELL", "/bin/bash"},
           {"TMPDIR", "/tmp"},
           {"XDG_RUNTIME_DIR", "/tmp"},
           {"NIX_SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt"}}) {
    Append(words, {"--setenv", name, value});
  }
}

Result<void> WriteFile(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream file(path);
  if (!(file << text << std::flush)) return Fail(Errc::kInternal, "cannot write '" + path + "'");
  return {};
}

Once Timed(Command command) {
  return [command = std::move(command)]() -> Result<double> {
    IGLOO_ASSIGN(const ProcessRun run, RunSpawned(command));
    return BetweenLines(run);
  };
}

}  // namespace

Result<double> BetweenLines(const ProcessRun& run) {
  std::vector<std::int64_t> times = {run.begin};
  for (std::size_t at = 0; at < run.output.size();) {
    const std::size_t end = std::min(run.output.find('\n', at), run.output.size());
    std::int64_t time = 0;
    const auto parsed = std::from_chars(run.output.data() + at, run.output.data() + end, time);
    if (parsed.ec != std::errc() || parsed.ptr != run.output.data() + end) {
      return Fail(Errc::kInternal, "it printed something else than times: " + run.output);
    }
    times.push_back(time);
    at = end + 1;
  }
  if (times.size() < 2 || times.size() > 3) {
    return Fail(Errc::kInternal, "it did not say when it began");
  }
  return static_cast<double>(times.back() - times[times.size() - 2]);
}

Result<BoxRuns> BoxRuns::Make(const std::string& programs) {
  IGLOO_ASSIGN(TempDir place, TempDir::Make("/tmp"));
  ::chmod(place.path().c_str(), 0755);
  BoxRuns runs(std::move(place));
  runs.igloo_ = programs + "/igloo";
  runs.agent_ = runs.home() + "/.local/bin/claude";
  const std::string home = runs.home();
  for (const char* each : {"/.local/bin", "/.claude/projects", "/.claude/commands", "/.claudebox",
                           "/.ssh", "/.config/git", "/.config/gh", "/code/other"}) {
    fs::create_directories(home + each);
  }
  std::error_code failed;
  fs::copy_file(programs + "/igloo-bench-first", runs.agent_, failed);
  if (failed) {
    return Fail(Errc::kNotFound, "there is no igloo-bench-first",
                "build it: tools/build release igloo-bench");
  }
  IGLOO_TRY(WriteFile(home + "/.gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.org\n"));
  IGLOO_TRY(WriteFile(home + "/.claude.json", "{\"numStartups\": 1}\n"));
  IGLOO_TRY(WriteFile(home + "/.claude/settings.json", "{\"model\": \"opus\"}\n"));
  IGLOO_TRY(WriteFile(home + "/.claude/.credentials.json", "{}\n"));
  for (const char* each : {"history.jsonl", "SANDBOX.md", "gitconfig", "projects/x/project-root"}) {
    IGLOO_TRY(WriteFile(home + "/.claudebox/" + each, "\n"));
  }
  for (int i = 0; i < kProjectFiles; ++i) {
    const std::string path =
        runs.project() + "/src/" + std::to_string(i % 20) + "/" + std::to_string(i) + ".c";
    IGLOO_TRY(WriteFile(path, "int x;\n"));
  }
  const std::string git = FindInPath("git");
  if (git.empty()) return Fail(Errc::kNotFound, "git is not installed", "apt install git");
  IGLOO_TRY(RunSpawned({{git, "init", "-q", runs.project()}}));
  IGLOO_TRY(RunSpawned({{git, "-C", runs.project(), "add", "-A"}}));
  return runs;
}

Command BoxRuns::Igloo(Words words) const {
  Words all = {igloo_, "agent"};
  Append(all, std::move(words));
  return {.argv = std::move(all),
          .environment = {"HOME=" + home(), "USER=ann",
                          "PATH=" + home() + "/.local/bin:/usr/local/bin:/usr/bin:/bin"}};
}

/// The order of its mounts: the root, the system, the home directory, the user's, the project.
Command BoxRuns::Claudebox(const std::string& bwrap) const {
  Words words = {bwrap, "--die-with-parent", "--unshare-all", "--share-net", "--clearenv"};
  SetVariables(words, home());
  Append(words, {"--tmpfs", "/"});
  ShowPrograms(words);
  Append(words, {"--ro-bind-try", "/nix/var/nix", "/nix/var/nix"});
  ShowEtc(words, kEtc);
  Append(words, {"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", home()});
  const std::string own = home() + "/.claudebox", claude = home() + "/.claude";
  Append(words, {"--bind", claude, claude});
  Append(words, {"--bind", own + "/projects/x", claude + "/projects"});
  Append(words, {"--bind", own + "/history.jsonl", claude + "/history.jsonl"});
  Append(words, {"--ro-bind", own + "/SANDBOX.md", claude + "/SANDBOX.md"});
  Append(words, {"--bind", claude + "/.credentials.json", claude + "/.credentials.json"});
  Append(words, {"--bind", home() + "/.claude.json", home() + "/.claude.json"});
  Append(words, {"--ro-bind", own + "/gitconfig", home() + "/.gitconfig"});
  Append(words, {"--ro-bind", agent_, agent_});
  Append(words, {"--bind", project(), project(), "--chdir", project(), "--", agent_,
                 "--dangerously-skip-permissions"});
  return {.argv = std::move(words)};
}

Command BoxRuns::ClaudeSandbox(const std::string& bwrap) const {
  Words words = {bwrap, "--die-with-parent", "--unshare-pid"};
  ShowPrograms(words);
  Append(words, {"--ro-bind-try", "/nix/var/nix/db", "/nix/var/nix/db"});
  ShowEtc(words, kEtc);
  ShowEtc(words, kMoreEtc);
  Append(words, {"--proc",
                 "/proc",
                 "--dev",
                 "/dev",
                 "--dev-bind-try",
                 "/dev/dri",
                 "/dev/dri",
                 "--dev-bind-try",
                 "/dev/shm",
                 "/dev/shm",
                 "--ro-bind-try",
                 "/run/opengl-driver",
                 "/run/opengl-driver",
                 "--ro-bind-try",
                 "/run/dbus/system_bus_socket",
                 "/run/dbus/system_bus_socket",
                 "--tmpfs",
                 "/tmp",
                 "--tmpfs",
                 "/home",
                 "--dir",
                 home()});
  Append(words, {"--bind", home() + "/.claude", home() + "/.claude"});
  Append(words, {"--bind", home() + "/.claude.json", home() + "/.claude.json"});
  for (const char* each : {"/.gitconfig", "/.config/git", "/.config/gh", "/.ssh"}) {
    Append(words, {"--ro-bind-try", home() + each, home() + each});
  }
  SetVariables(words, home());
  Append(words, {"--setenv", "NIX_REMOTE", "daemon", "--ro-bind", agent_, agent_, "--bind",
                 project(), project(), "--chdir", project(), "--", agent_});
  return {.argv = std::move(words)};
}

std::vector<Candidate> BoxRuns::Candidates() const {
  std::vector<Candidate> made;
  const auto add = [&](std::string key, std::string name, std::string against, unsigned every,
                       Once once) {
    made.push_back({.key = std::move(key),
                    .name = std::move(name),
                    .against = std::move(against),
                    .every = every,
                    .once = std::move(once)});
  };
  const Words box = {"claude", "--yes", "--project", project()};
  Words closed = box;
  Append(closed, {"--network", "none"});
  add("box", "box, to the agent's first instruction", "box_claudebox", 1, Timed(Igloo(box)));
  add("box_closed", "the same without a network", "box_claudebox", 1, Timed(Igloo(closed)));
  const std::string bwrap = FindInPath("bwrap");
  add("box_claudebox", "bwrap with claudebox's words", "", 1, Timed(Claudebox(bwrap)));
  add("box_claude_sandbox", "bwrap with claude-sandbox's words", "", 1,
      Timed(ClaudeSandbox(bwrap)));
  if (bwrap.empty()) {
    for (Candidate& each : made) {
      if (each.key.starts_with("box_claude")) {
        each.failure = "not installed; get it with: apt-get install bubblewrap";
      }
    }
  }
  // Small programs one after the other, as tests of a project start them.
  const std::string loop = agent_ + "; i=0; while [ $i -lt " + std::to_string(kProcesses) +
                           " ]; do /bin/true; i=$((i+1)); done; " + agent_;
  add("loop_outside", "1,000 small processes", "", 4, Timed({.argv = {"/bin/sh", "-c", loop}}));
  add("loop_box", "1,000 small processes in a box", "loop_outside", 4,
      Timed(Igloo({"--cmd", "sh", "--yes", "--project", project(), "--network", "none", "--home",
                   ".local/bin", "--", "-c", loop})));
  return made;
}

}  // namespace igloo::bench
