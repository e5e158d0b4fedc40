#pragma once

#include <stddef.h>

namespace igloo::attack {

/// How an attack ends. Anything else means that it did not run, and proves nothing.
inline constexpr int kWon = 42, kHeld = 7, kBroken = 3;

/// The words behind an attack's name.
struct Words {
  int count;
  char** at;
  /// A missing word ends the program as broken: a typing error must not look like a wall.
  const char* operator[](int index) const;
  long Number(int index) const;
};

using Function = int (*)(const Words&);

struct Attack {
  const char* name;
  const char* family;
  Function run;
};

struct Family {
  const Attack* attacks;
  size_t count;
};

extern const Family kFiles, kMounts, kProcesses, kPrivileges, kKernel, kNetwork, kInherited,
    kResources, kPlanting, kCounters, kBuffers, kActivity;

/// The attack of that name; ends the program as broken when there is none.
Function Find(const char* name);

/// Carries out all attacks whose words stand on standard input, each in a process of its own, and
/// prints a line "@ INDEX EXIT-CODE" behind what each says.
int RunBattery();

/// What every secret of the scene contains.
inline constexpr const char* kSecret = "igloo-secret";

/// In every running copy of this program, at the same address: it is linked without PIE.
extern char g_planted[32];

/// Says why on standard error (with errno's name when it is set) and answers `verdict`.
int Held(const char* why);
int Won(const char* why);
[[noreturn]] void Broken(const char* why);

/// Won when `result` is a success; says what the kernel answered.
int WonIf(bool won, const char* what);

/// For calls that a filter must refuse before the kernel looks at their arguments: the kernel's own
/// complaint about them means that its code was reached.
int WonIfReached(long result, const char* what);

/// Waits for a child; its exit code, or -1.
int ExitOf(int pid);

/// Runs the attack as PID 3 of fresh namespaces in which it is root: what it could do without the
/// wall. PID 1 is a copy of this program, PID 2 a bystander, /tmp a fresh file system with a
/// read-only one in /tmp/sealed, and /proc/keys is covered.
int RunInOwnNamespaces(Function attack, const Words& words);

}  // namespace igloo::attack
