#include "bench/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/file.h"
#include "base/unique_fd.h"

namespace igloo::bench {
namespace {

/// Every candidate gets the same small environment, whatever the caller's is.
constexpr std::array<const char*, 4> kEnvironment = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                                     "LANG=C.UTF-8", "HOME=/", nullptr};

char* const* Environment() { return const_cast<char* const*>(kEnvironment.data()); }

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Reads to the end of the output and reaps; the clock stops behind both.
Result<ProcessRun> Watch(pid_t pid, int output, std::int64_t begin, const std::string& name) {
  std::array<char, 4096> buffer;
  while (::read(output, buffer.data(), buffer.size()) > 0) {
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  ProcessRun run{.begin = begin, .end = MonotonicMicros()};
  if (status == 0) return run;
  return Fail(Errc::kFailedPrecondition,
              "'" + name + "' ended with wait status " + std::to_string(status));
}

/// What posix_spawn does with descriptors, freed with the scope.
class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }

  void Place(int fd, int number) { ::posix_spawn_file_actions_adddup2(&actions_, fd, number); }
  void OpenNull(int number, int flags) {
    ::posix_spawn_file_actions_addopen(&actions_, number, "/dev/null", flags, 0);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

}  // namespace

Result<ProcessRun> RunForked(const std::vector<std::string>& argv) {
  std::vector<char*> words = Pointers(argv);
  IGLOO_ASSIGN(FdPair out, MakePipe());
  const std::int64_t begin = MonotonicMicros();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(out.second.get(), STDOUT_FILENO);
    ::execve(words[0], words.data(), Environment());
    ::_exit(127);
  }
  if (pid < 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot fork");
  }
  out.second.Reset();
  return Watch(pid, out.first.get(), begin, argv[0]);
}

Result<ProcessRun> RunSpawned(const std::vector<std::string>& argv, Errors errors) {
  std::vector<char*> words = Pointers(argv);
  IGLOO_ASSIGN(FdPair out, MakePipe());
  IGLOO_ASSIGN(FdPair err, MakePipe());
  FileActions actions;
  actions.OpenNull(STDIN_FILENO, O_RDONLY);
  actions.Place(out.second.get(), STDOUT_FILENO);
  if (errors == Errors::kKept) {
    actions.Place(err.second.get(), STDERR_FILENO);
  } else {
    actions.OpenNull(STDERR_FILENO, O_WRONLY);
  }
  pid_t pid = 0;
  const std::int64_t begin = MonotonicMicros();
  const int failed =
      ::posix_spawn(&pid, words[0], actions.get(), nullptr, words.data(), Environment());
  if (failed != 0) return FailSys(failed, "cannot start '" + argv[0] + "'");
  out.second.Reset();
  err.second.Reset();
  IGLOO_ASSIGN(ProcessRun run, Watch(pid, out.first.get(), begin, argv[0]));
  if (errors == Errors::kKept) {
    // Small enough to wait in the pipe, so that reading it is not measured.
    IGLOO_ASSIGN(run.errors, ReadAll(err.first.get(), 64U << 10));
  }
  return run;
}

}  // namespace igloo::bench
