// igloo-attack NAME WORDS...: one attack, from wherever it was started. Exits 42 when it won, 7
// when the wall held; any other code means that it did not run properly.
// igloo-attack battery: those that stand on standard input (battery.cc).
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"

namespace igloo::attack {

char g_planted[32] = "igloo-secret-in-memory";

const char* Words::operator[](int index) const {
  if (index >= count) Broken("a word is missing");
  return at[index];
}

long Words::Number(int index) const {
  char* end = nullptr;
  const long value = strtol((*this)[index], &end, 0);
  if (end == at[index] || *end != '\0') Broken("a word is not a number");
  return value;
}

namespace {

/// Names of files and variables are anybody's: one line stays one line.
void Say(const char* verdict, const char* why, const char* reason) {
  char text[512];
  snprintf(text, sizeof text, "%s: %s%s%s%s", verdict, why, *reason != '\0' ? " (" : "", reason,
           *reason != '\0' ? ")" : "");
  for (char* at = text; *at != '\0'; ++at) {
    if (static_cast<unsigned char>(*at) < ' ') *at = '?';
  }
  dprintf(2, "%s\n", text);
}

}  // namespace

int Held(const char* why) {
  Say("held", why, errno != 0 ? strerror(errno) : "");
  return kHeld;
}

int Won(const char* why) {
  Say("won", why, "");
  return kWon;
}

void Broken(const char* why) {
  Say("broken", why, errno != 0 ? strerror(errno) : "");
  _exit(kBroken);
}

int WonIf(bool won, const char* what) { return won ? Won(what) : Held(what); }

int WonIfReached(long result, const char* what) {
  return WonIf(result >= 0 || (errno != EPERM && errno != ENOSYS), what);
}

int ExitOf(int pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

namespace {

/// A process of the host for others to see, signal, trace and read. Ends with whoever started it.
int Victim(const Words&) {
  // Where Yama is on, only a volunteer can be traced; the wall must hold without its help.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  if (write(1, "ready\n", 6) != 6) Broken("nobody listens");
  for (;;) pause();
}

constexpr Attack kScenery[] = {{"victim", "scenery", Victim}};
constexpr Family kSceneryFamily = {kScenery, 1};

}  // namespace

Function Find(const char* name) {
  const Family* families[] = {&kFiles,   &kMounts,    &kProcesses,    &kPrivileges, &kKernel,
                              &kNetwork, &kInherited, &kResources,    &kPlanting,   &kCounters,
                              &kBuffers, &kActivity,  &kSceneryFamily};
  for (const Family* family : families) {
    for (size_t i = 0; i < family->count; ++i) {
      if (strcmp(family->attacks[i].name, name) == 0) return family->attacks[i].run;
    }
  }
  Broken(name);
}

}  // namespace igloo::attack

int main(int argc, char** argv) {
  using namespace igloo::attack;
  int first = 1;
  const bool own_namespaces = argc > 1 && strcmp(argv[1], "--control-userns") == 0;
  if (own_namespaces) ++first;
  if (argc <= first) Broken("no attack is named");
  if (strcmp(argv[first], "battery") == 0) return RunBattery();
  const Function attack = Find(argv[first]);
  const Words words{argc - first - 1, argv + first + 1};
  // An attack that hangs has not run properly either; the victim is the one that waits.
  if (strcmp(argv[first], "victim") != 0) alarm(60);
  errno = 0;
  return own_namespaces ? RunInOwnNamespaces(attack, words) : attack(words);
}
