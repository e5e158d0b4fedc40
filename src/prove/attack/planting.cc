// Attacks that leave something on the host which works for whoever starts it: set-uid files.
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace igloo::attack {
namespace {

constexpr long kFchmodat2 = 452;
constexpr unsigned kOurs = 0755;

/// Makes the file without any such bit first, for calls that change one.
int Ordinary(const char* path) {
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, kOurs);
  if (fd < 0) Broken("open");
  return fd;
}

void ChangeMode(const char* path, unsigned mode) {
  close(Ordinary(path));
#ifdef __x86_64__
  syscall(SYS_chmod, path, mode);
#else
  syscall(SYS_fchmodat, AT_FDCWD, path, mode);
#endif
}

void ChangeModeOfDescriptor(const char* path, unsigned mode) {
  syscall(SYS_fchmod, Ordinary(path), mode);
}

void ChangeModeAt(const char* path, unsigned mode) {
  close(Ordinary(path));
  syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}

void ChangeModeAt2(const char* path, unsigned mode) {
  close(Ordinary(path));
  syscall(kFchmodat2, AT_FDCWD, path, mode, 0);
}

void Open(const char* path, unsigned mode) {
#ifdef __x86_64__
  syscall(SYS_open, path, O_WRONLY | O_CREAT | O_EXCL, mode);
#else
  syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, mode);
#endif
}

void OpenAt(const char* path, unsigned mode) {
  syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, mode);
}

void OpenAt2(const char* path, unsigned mode) {
  open_how how{};
  how.flags = O_WRONLY | O_CREAT | O_EXCL;
  how.mode = mode;
  syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/// A file without a name that gets one when it is complete.
void OpenNameless(const char* path, unsigned mode) {
  char directory[512];
  snprintf(directory, sizeof directory, "%s", path);
  char* const slash = strrchr(directory, '/');
  if (slash == nullptr) Broken("not a whole path");
  *slash = '\0';
  const long fd = syscall(SYS_openat, AT_FDCWD, directory, O_WRONLY | O_TMPFILE, mode);
  if (fd < 0) return;
  char own[64];
  snprintf(own, sizeof own, "/proc/self/fd/%ld", fd);
  if (linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW) != 0) Broken("linkat");
}

void Create(const char* path, unsigned mode) {
#ifdef __x86_64__
  syscall(SYS_creat, path, mode);
#else
  OpenAt(path, mode);
#endif
}

void MakeNode(const char* path, unsigned mode) {
#ifdef __x86_64__
  syscall(SYS_mknod, path, S_IFREG | mode, 0);
#else
  syscall(SYS_mknodat, AT_FDCWD, path, S_IFREG | mode, 0);
#endif
}

void MakeNodeAt(const char* path, unsigned mode) {
  syscall(SYS_mknodat, AT_FDCWD, path, S_IFREG | mode, 0);
}

/// The 32-bit door. This program is linked to low addresses, so the path can be told there.
void Through32(long number, const char* path, unsigned b, unsigned c) {
#ifdef __x86_64__
  static char low[512];
  snprintf(low, sizeof low, "%s", path);
  long result = 0;
  asm volatile("int $0x80"
               : "=a"(result)
               : "a"(number), "b"(low), "c"(b), "d"(c)
               : "memory", "r8", "r9", "r10", "r11");
  errno = result < 0 ? static_cast<int>(-result) : 0;
#else
  (void)number, (void)path, (void)b, (void)c;
  Broken("only x86_64 has it");
#endif
}
void ChangeMode32(const char* path, unsigned mode) {
  close(Ordinary(path));
  Through32(15 /* chmod */, path, mode, 0);
}
void Open32(const char* path, unsigned mode) {
  Through32(5 /* open */, path, O_WRONLY | O_CREAT | O_EXCL, mode);
}

struct Way {
  const char* name;
  void (*plant)(const char* path, unsigned mode);
};
constexpr Way kWays[] = {
    {"chmod", ChangeMode},
    {"fchmod", ChangeModeOfDescriptor},
    {"fchmodat", ChangeModeAt},
    {"fchmodat2", ChangeModeAt2},
    {"open", Open},
    {"openat", OpenAt},
    {"openat2", OpenAt2},
    {"tmpfile", OpenNameless},
    {"creat", Create},
    {"mknod", MakeNode},
    {"mknodat", MakeNodeAt},
    {"chmod-32", ChangeMode32},
    {"open-32", Open32},
};

/// WAY PATH MODE: leaves a file whose starter gets the id of its owner.
int PlantSetId(const Words& words) {
  const auto mode = static_cast<unsigned>(words.Number(2));
  umask(0);
  for (const Way& way : kWays) {
    if (strcmp(way.name, words[0]) != 0) continue;
    way.plant(words[1], mode);
    const int saved_errno = errno;
    struct stat info{};
    const bool there = stat(words[1], &info) == 0;
    errno = saved_errno;
    return WonIf(there && S_ISREG(info.st_mode) && (info.st_mode & (S_ISUID | S_ISGID)) != 0,
                 words[0]);
  }
  Broken("no such way");
}

/// PATH: other content for a file that is set-uid already. A write would take the bit away; memory
/// that is mapped from the file does not.
int ChangeMapped(const Words& words) {
  const int fd = open(words[0], O_RDWR | O_CLOEXEC);
  if (fd < 0) return Held("open");
  void* at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return Held("mmap");
  memcpy(at, "changed", 7);
  if (msync(at, 4096, MS_SYNC) != 0) Broken("msync");
  struct stat info{};
  if (fstat(fd, &info) != 0) Broken("fstat");
  return WonIf((info.st_mode & S_ISUID) != 0, "it is still set-uid");
}

constexpr Attack kTable[] = {
    {"plant-set-id", "planting", PlantSetId},
    {"change-mapped", "planting", ChangeMapped},
};

}  // namespace

extern const Family kPlanting = {kTable, sizeof kTable / sizeof kTable[0]};

}  // namespace igloo::attack
