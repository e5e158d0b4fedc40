// What a user types. The real program takes a while to start, and so does a sandbox; a run needs
// both, so this small one begins the sandbox and turns into the real one beside it.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "apps/launcher_program.h"
#include "jail/launcher.h"

namespace {

/// Commands that end up in a fresh sandbox, unless one of kWithout is among their words.
constexpr const char* kWith[] = {"run", "shell"};
constexpr const char* kWithout[] = {"--help", "-h", "--dry-run", "--backend"};

/// More variables than anybody has; whoever has more still gets a run, only later.
constexpr size_t kMaxVariables = 8192;
char* g_environment[kMaxVariables + 2];

bool IsOneOf(const char* word, const char* const* list, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(word, list[i]) == 0) return true;
  }
  return false;
}

/// A guess that may be wrong either way: a sandbox that nobody asks for ends with igloo, and one
/// that is missing is made later.
bool NeedsSandbox(int argc, char** argv) {
  if (argc < 2 || !IsOneOf(argv[1], kWith, sizeof kWith / sizeof *kWith)) return false;
  for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; ++i) {
    if (IsOneOf(argv[i], kWithout, sizeof kWithout / sizeof *kWithout)) return false;
  }
  return true;
}

alignas(16) unsigned char g_launcher_stack[256 << 10];
int g_launcher_socket;

/// The launcher starts as it does when igloo-jail is started: with one descriptor. It shares memory
/// with the process that is about to become igloo-core, which only reads any more.
int BeLauncher(void*) {
  prctl(PR_SET_NAME, "igloo-jail", 0, 0, 0);
  const int null = open("/dev/null", O_RDWR);
  // SECURITY: one that cannot be walled off from the caller's descriptors does not start.
  if (null < 0) _exit(125);
  for (int fd = 0; fd < 3; ++fd) {
    if (dup2(null, fd) < 0) _exit(125);
  }
  if (dup2(g_launcher_socket, igloo::apps::kLauncherSocket) < 0 ||
      syscall(SYS_close_range, igloo::apps::kLauncherSocket + 1, ~0U, 0) != 0) {
    _exit(125);
  }
  igloo::jail::Serve(igloo::apps::kLauncherSocket, igloo::apps::kProgram, true);
}

/// The variables for the real program: those that came, and where the launcher is.
char** BeginSandbox(char** environment) {
  size_t count = 0;
  while (environment[count] != nullptr) ++count;
  int sockets[2];
  if (count > kMaxVariables || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) {
    return environment;
  }
  // The caller may have come with 0, 1 or 2 closed; the numbers must not be taken by ours.
  const int launchers = fcntl(sockets[0], F_DUPFD, 10);
  const int ours = fcntl(sockets[1], F_DUPFD, 10);
  close(sockets[0]);
  close(sockets[1]);
  if (launchers < 0 || ours < 0) return environment;
  g_launcher_socket = launchers;
  const pid_t pid =
      clone(BeLauncher, g_launcher_stack + sizeof g_launcher_stack, CLONE_VM | SIGCHLD, nullptr);
  close(launchers);
  if (pid < 0) {
    close(ours);
    return environment;
  }
  static char place[64];
  snprintf(place, sizeof place, "IGLOO_LAUNCHER=%d,%d", ours, static_cast<int>(pid));
  g_environment[0] = place;
  for (size_t i = 0; i < count; ++i) g_environment[i + 1] = environment[i];
  return g_environment;
}

void Complain(const char* why) {
  constexpr char kSay[] = "igloo: cannot start igloo-core: ";
  constexpr char kHint[] =
      "\n  hint: install igloo completely ('make install'), or run it from build/release/bin\n";
  (void)!write(2, kSay, sizeof kSay - 1);
  (void)!write(2, why, strlen(why));
  (void)!write(2, kHint, sizeof kHint - 1);
}

}  // namespace

int main(int argc, char** argv, char** environment) {
  igloo::apps::RememberWords(argc, argv, environment);
  char path[4096 + 64];
  const ssize_t size = readlink("/proc/self/exe", path, 4096);
  char* name =
      size > 0 ? static_cast<char*>(memrchr(path, '/', static_cast<size_t>(size))) : nullptr;
  if (name == nullptr) {
    Complain("/proc is not mounted");
    return 125;
  }
  strcpy(name, "/igloo-core");
  if (access(path, X_OK) != 0) strcpy(name, "/../libexec/igloo/igloo-core");
  if (access(path, X_OK) != 0) {
    Complain(strerror(errno));
    return 125;
  }
  char** passed = NeedsSandbox(argc, argv) ? BeginSandbox(environment) : environment;
  execve(path, argv, passed);
  // Not errno: from here on the launcher shares this memory, and writes it.
  Complain("it is not a program for this machine");
  return 125;
}
