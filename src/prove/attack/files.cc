// Attacks on files: reading what is not mounted, changing what is read-only.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "attack.h"

namespace igloo::attack {
namespace {

bool HoldsSecret(int fd) {
  char text[256] = {};
  const ssize_t count = read(fd, text, sizeof text - 1);
  return count > 0 && memmem(text, static_cast<size_t>(count), kSecret, strlen(kSecret)) != nullptr;
}

/// PATH: reads a file of the host that nobody mounted.
int ReadSecret(const Words& words) {
  const int fd = open(words[0], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return Held("open");
  return WonIf(HoldsSecret(fd), "read the secret");
}

/// PATH: anything at all can be read from it.
int ReadAnything(const Words& words) {
  const int fd = open(words[0], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return Held("open");
  char byte = 0;
  return WonIf(read(fd, &byte, 1) == 1, "read a byte");
}

/// PATH: the directory shows at least one entry.
int ListDirectory(const Words& words) {
  DIR* directory = opendir(words[0]);
  if (directory == nullptr) return Held("opendir");
  while (const dirent* entry = readdir(directory)) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      return Won(entry->d_name);
    }
  }
  return Held("it is empty");
}

/// FROM TO: a second name for the secret in a place of ours.
int HardLink(const Words& words) {
  if (linkat(AT_FDCWD, words[0], AT_FDCWD, words[1], 0) != 0) return Held("link");
  return ReadSecret({1, words.at + 1});
}

struct Handle {
  alignas(file_handle) unsigned char space[sizeof(file_handle) + 128] = {};
  file_handle* get() { return reinterpret_cast<file_handle*>(space); }
};

bool TakeHandle(const char* path, Handle& handle) {
  handle.get()->handle_bytes = 128;
  int mount_id = 0;
  return syscall(SYS_name_to_handle_at, AT_FDCWD, path, handle.get(), &mount_id, 0) == 0;
}

/// DIR: the first half of opening by handle, which needs no right.
int NameHandle(const Words& words) {
  Handle handle;
  return WonIf(TakeHandle(words[0], handle), "name_to_handle_at");
}

/// DIR: what is opened by its handle needs no path, so no mount table hides it.
int OpenByHandle(const Words& words) {
  Handle handle;
  if (!TakeHandle(words[0], handle)) return Held("name_to_handle_at");
  const int directory = open(words[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const long fd =
      syscall(SYS_open_by_handle_at, directory, handle.get(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return WonIf(fd >= 0, "open_by_handle_at");
}

/// PATH: creates it, or writes to the end of it.
int WriteFile(const Words& words) {
  const int fd = open(words[0], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return Held("open");
  return WonIf(write(fd, "x", 1) == 1, "wrote a byte");
}

/// PATH: opens for writing and writes nothing: root's control run must not change the machine.
int OpenForWriting(const Words& words) {
  return WonIf(open(words[0], O_WRONLY | O_CLOEXEC) >= 0, "opened for writing");
}

/// PATH: every way to change a file that is not writing into it.
int ChangeFile(const Words& words) {
  const char* path = words[0];
  char beside[512];
  snprintf(beside, sizeof beside, "%s.beside", path);
  struct stat info{};
  if (stat(path, &info) != 0) Broken("there is no file to change");
  if (chmod(path, 0777) == 0) return Won("chmod");
  if (utimensat(AT_FDCWD, path, nullptr, 0) == 0) return Won("utimensat");
  if (truncate(path, 0) == 0) return Won("truncate");
  if (setxattr(path, "user.igloo", "x", 1, 0) == 0) return Won("setxattr");
  if (symlink(path, beside) == 0) return Won("symlink");
  if (link(path, beside) == 0) return Won("link");
  if (rename(path, beside) == 0) return Won("rename");
  if (mkdir(beside, 0700) == 0) return Won("mkdir");
  if (mkfifo(beside, 0600) == 0) return Won("mkfifo");
  if (unlink(path) == 0) return Won("unlink");
  return Held("every change");
}

/// PATH: a pipe with a name whose other end a program of the host reads; read-only mounts do not
/// keep anybody from writing into one.
int WriteFifo(const Words& words) {
  struct stat info{};
  if (stat(words[0], &info) != 0 || !S_ISFIFO(info.st_mode)) Broken("there is no fifo");
  const int fd = open(words[0], O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return Held("open");
  return WonIf(write(fd, "x", 1) == 1, "wrote to a reader outside");
}

/// PATH: a descriptor for reading, opened once more for writing by its name in /proc.
int ReopenWritable(const Words& words) {
  const int fd = open(words[0], O_RDONLY | O_CLOEXEC);
  if (fd < 0) Broken("it cannot be read");
  char again[64];
  snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
  return WonIf(open(again, O_RDWR | O_CLOEXEC) >= 0, "reopened for writing through /proc/self/fd");
}

constexpr Attack kTable[] = {
    {"read-secret", "files", ReadSecret},         {"read-anything", "files", ReadAnything},
    {"list-directory", "files", ListDirectory},   {"hard-link", "files", HardLink},
    {"name-handle", "files", NameHandle},         {"open-by-handle", "files", OpenByHandle},
    {"write-file", "files", WriteFile},           {"open-for-writing", "files", OpenForWriting},
    {"change-file", "files", ChangeFile},         {"write-fifo", "files", WriteFifo},
    {"reopen-writable", "files", ReopenWritable},
};

}  // namespace

extern const Family kFiles = {kTable, sizeof kTable / sizeof kTable[0]};

}  // namespace igloo::attack
