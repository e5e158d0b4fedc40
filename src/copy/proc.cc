#include "copy/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "base/file.h"

namespace igloo::copy {
namespace {

std::string PathOf(pid_t pid, const std::string& file) { return std::to_string(pid) + "/" + file; }

std::unexpected<Error> Fails(int number, const std::string& path) {
  return FailSys(number, "cannot read /proc/" + path);
}

UniqueFd& Directory() {
  static UniqueFd directory(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  return directory;
}

}  // namespace

int ProcDirectory() { return Directory().get(); }

void CloseProc() { Directory().Reset(); }

Result<UniqueFd> OpenProc(pid_t pid, const std::string& file, int flags) {
  const int proc = ProcDirectory();
  if (proc < 0) return Fails(EBADF, PathOf(pid, file));
  UniqueFd fd(::openat(proc, PathOf(pid, file).c_str(), flags | O_CLOEXEC));
  if (fd) return fd;
  const int saved_errno = errno;
  return Fails(saved_errno, PathOf(pid, file));
}

Result<std::string> ReadProc(pid_t pid, const std::string& file, std::size_t limit) {
  IGLOO_ASSIGN(const UniqueFd fd, OpenProc(pid, file, O_RDONLY));
  return ReadAll(fd.get(), limit);
}

Result<std::string> ReadProcLink(pid_t pid, const std::string& file) {
  std::array<char, 4096> target;
  const ssize_t size =
      ::readlinkat(ProcDirectory(), PathOf(pid, file).c_str(), target.data(), target.size());
  const int saved_errno = errno;
  if (size < 0) return Fails(saved_errno, PathOf(pid, file));
  return std::string(target.data(), static_cast<std::size_t>(size));
}

Result<std::set<int>> OpenNumbers(pid_t pid, std::size_t most) {
  IGLOO_ASSIGN(UniqueFd fd, OpenProc(pid, "fd", O_RDONLY | O_DIRECTORY));
  DIR* directory = ::fdopendir(fd.get());
  if (directory == nullptr) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot list the descriptors of the session's interpreter");
  }
  (void)fd.Release();
  std::set<int> numbers;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.insert(number);
    if (numbers.size() > most) break;
  }
  ::closedir(directory);
  return numbers;
}

Result<ProcessTexts> ReadTexts(pid_t pid) {
  ProcessTexts texts;
  IGLOO_ASSIGN(texts.stat, ReadProc(pid, "stat", 8192));
  IGLOO_ASSIGN(texts.status, ReadProc(pid, "status", 1U << 16));
  IGLOO_ASSIGN(texts.auxiliary, ReadProc(pid, "auxv", 8192));
  IGLOO_ASSIGN(texts.name, ReadProc(pid, "comm", 64));
  IGLOO_ASSIGN(texts.program, ReadProcLink(pid, "exe"));
  return texts;
}

}  // namespace igloo::copy
