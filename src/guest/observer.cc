#include "guest/observer.h"

#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "guest/control.h"
#include "guest/filter_rules.h"
#include "kernel/calls.h"

namespace igloo::guest {
namespace {

using wire::SeenKind;

constexpr uint64_t kTellMicros = 500'000;
constexpr size_t kPathSize = wire::kMaxSeenPath + 1;
constexpr uintptr_t kPage = 4096;

/// How often a program was refused a call. SECURITY: code can make as many programs as it likes;
/// the last row counts for all that found no place.
struct Row {
  uint32_t call;
  uint64_t times, told;
  char program[wire::kMaxSeenProgram + 1];
};
constexpr size_t kRows = 64;
Row g_rows[kRows];
/// Paths that were told, by their hash.
uint64_t g_told[4096];
int g_calls = -1;  ///< an epoll with the listeners of all payloads
uint64_t g_due = 0;
int g_blind = 0;  ///< why nothing can be seen; told once

void Tell(const wire::Nonce& nonce, SeenKind kind, uint32_t number, uint64_t times,
          const char* program, const char* path) {
  ReportWriter report(wire::FromInit::kSeen, nonce);
  report.U8(static_cast<uint8_t>(kind));
  report.U32(number);
  report.U64(times);
  report.Text(program);
  report.Text(path);
  report.Send();
}

/// The text of a link below /proc/PID; empty when it cannot be read, or is too long.
void ReadLink(const char* name, uint32_t pid, int number, char* text, size_t size) {
  char link[64];
  snprintf(link, sizeof link, name, pid, number);
  const ssize_t length = readlink(link, text, size);
  text[length > 0 && length < static_cast<ssize_t>(size) ? length : 0] = '\0';
}

void Count(const seccomp_notif& call) {
  char program[sizeof Row::program];
  ReadLink("/proc/%u/exe", call.pid, 0, program, sizeof program);
  const auto number = static_cast<uint32_t>(call.data.nr);
  Row* row = g_rows;
  while (row < g_rows + kRows - 1 && row->times != 0 &&
         (row->call != number || strcmp(row->program, program) != 0)) {
    ++row;
  }
  const bool full = row == g_rows + kRows - 1;
  if (full) program[0] = '\0';
  row->call = full ? wire::kOtherCalls : number;
  memcpy(row->program, program, sizeof program);
  // The first one is told at once: whoever asks why meanwhile is answered.
  if (row->times++ == 0) g_due = kernel::NowMicros();
  if (g_due == 0) g_due = kernel::NowMicros() + kTellMicros;
}

/// The path that a call names, made absolute; false when nobody can tell.
bool ReadPath(const seccomp_notif& call, const PathCall& how, char* path) {
  char text[kPathSize];
  const auto address = static_cast<uintptr_t>(call.data.args[how.path]);
  // The page behind the text's own may not be there: then the first part alone comes.
  const size_t to_end = kPage - address % kPage;
  const size_t first = to_end < sizeof text ? to_end : sizeof text;
  const iovec here{text, sizeof text};
  const iovec there[] = {{reinterpret_cast<void*>(address), first},
                         {reinterpret_cast<void*>(address + first), sizeof text - first}};
  const ssize_t count = process_vm_readv(static_cast<pid_t>(call.pid), &here, 1, there, 2, 0);
  const size_t size = count > 0 ? strnlen(text, static_cast<size_t>(count)) : 0;
  if (size == 0 || size == static_cast<size_t>(count)) return false;
  path[0] = '\0';
  if (text[0] != '/') {
    const int directory = how.at ? static_cast<int>(call.data.args[how.path - 1]) : AT_FDCWD;
    ReadLink(directory == AT_FDCWD ? "/proc/%u/cwd" : "/proc/%u/fd/%d", call.pid, directory, path,
             kPathSize);
    if (path[0] != '/' || strlen(path) + 1 + size >= kPathSize) return false;
    strcat(path, "/");
  }
  strcat(path, text);
  for (size_t end = strlen(path); end > 1 && path[end - 1] == '/'; --end) path[end - 1] = '\0';
  return true;
}

int ErrorOf(const char* path, int mode) {
  return faccessat(AT_FDCWD, path, mode, 0) == 0 ? 0 : errno;
}

/// What the kernel will say to a call that makes `path`, which is not there.
int ErrorOfMaking(const char* path) {
  char directory[kPathSize];
  strcpy(directory, path);
  char* const slash = strrchr(directory, '/');
  slash[slash == directory ? 1 : 0] = '\0';
  return ErrorOf(directory, W_OK | X_OK);
}

/// Whether this was told before; from now on it was.
bool WasTold(const char* path, const char* program, SeenKind kind, int error) {
  uint64_t hash =
      0xcbf29ce484222325 + static_cast<uint64_t>(kind) * 4096 + static_cast<uint64_t>(error);
  const char* const texts[] = {path, program};
  for (const char* text : texts) {
    for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3;
    hash *= 0x100000001b3;
  }
  uint64_t& told = g_told[(hash ^ hash >> 32) % (sizeof g_told / sizeof g_told[0])];
  const bool known = told == hash;
  told = hash;
  return known;
}

/// Tells igloo of a file that is asked for. The kernel is asked just before the call is made: of
/// the answer itself nobody hears, and what code does meanwhile changes only what is told of it.
void TellFile(const seccomp_notif& call, const PathCall& how, const wire::Nonce& nonce) {
  char path[kPathSize];
  if (!ReadPath(call, how, path)) return;
  const uint64_t flags = how.use == PathUse::kOpen ? call.data.args[how.path + 1] : 0;
  const uint64_t access = flags & O_ACCMODE;
  const bool makes = how.use == PathUse::kMake || (flags & O_CREAT) != 0;
  bool writes = how.use == PathUse::kMake || access != O_RDONLY || (flags & O_TRUNC) != 0;
  int mode = how.use == PathUse::kOpen && (flags & O_PATH) == 0 ? R_OK : F_OK;
  if (access != O_RDONLY) mode = access == O_RDWR ? R_OK | W_OK : W_OK;
  int error = ErrorOf(path, mode);
  if (how.use == PathUse::kMake && error == 0) return;  // it is there already
  if (error == ENOENT && makes) {
    writes = true;
    error = ErrorOfMaking(path);
  }
  const SeenKind kind = writes ? SeenKind::kWritten : SeenKind::kRead;
  char program[wire::kMaxSeenProgram + 1];
  ReadLink("/proc/%u/exe", call.pid, 0, program, sizeof program);
  // What was refused is counted, all else is told once.
  if ((error == 0 || error == ENOENT) && WasTold(path, program, kind, error)) return;
  Tell(nonce, kind, static_cast<uint32_t>(error), 1, program, path);
}

const PathCall* FindPathCall(int number) {
  for (const PathCall& each : kPathCalls) {
    if (static_cast<int>(each.number) == number) return &each;
  }
  return nullptr;
}

}  // namespace

void Observe(int listener, int error) {
  if (g_calls < 0) g_calls = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = listener;
  if (listener >= 0 && epoll_ctl(g_calls, EPOLL_CTL_ADD, listener, &event) == 0) return;
  // SECURITY: nobody would answer: without its listener a call answers ENOSYS, which is no more.
  if (listener >= 0) error = errno;
  kernel::CloseQuietly(listener);
  g_blind = error;
  g_due = kernel::NowMicros();
}

int ObservedFd() { return g_calls; }

void AnswerObserved(wire::Watched watched, const wire::Nonce& nonce) {
  epoll_event event{};
  if (epoll_wait(g_calls, &event, 1, 0) != 1) return;
  if ((event.events & EPOLLIN) == 0) {
    close(event.data.fd);  // all that had this filter have ended
    return;
  }
  seccomp_notif call{};
  if (ioctl(event.data.fd, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;  // its caller was killed
  seccomp_notif_resp answer{};
  answer.id = call.id;
  answer.error = -EPERM;
  const PathCall* how = watched == wire::Watched::kFiles ? FindPathCall(call.data.nr) : nullptr;
  if (how != nullptr) {
    TellFile(call, *how, nonce);
    answer.error = 0;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  } else {
    Count(call);
  }
  ioctl(event.data.fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

uint64_t ObservedDue() { return g_due; }

void TellObserved(const wire::Nonce& nonce) {
  g_due = 0;
  if (g_blind != 0) Tell(nonce, SeenKind::kBlind, static_cast<uint32_t>(g_blind), 1, "", "");
  g_blind = 0;
  for (Row& row : g_rows) {
    if (row.times == row.told) continue;
    row.told = row.times;
    Tell(nonce, SeenKind::kCall, row.call, row.times, row.program, "");
  }
}

}  // namespace igloo::guest
