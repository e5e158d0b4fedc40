#include "bench/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/file.h"

namespace igloo::bench {
namespace {

/// Every candidate gets the same small environment, whatever the caller's is.
constexpr std::array<const char*, 3> kEnvironment = {
    "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8", "HOME=/"};
constexpr std::size_t kKept = 16U << 10;

std::vector<char*> Pointers(const Words& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<char*> Environment(const Words& more) {
  // Of two that have one name, the first counts.
  std::vector<char*> pointers = Pointers(more);
  for (const char* each : kEnvironment) {
    pointers.insert(pointers.end() - 1, const_cast<char*>(each));
  }
  return pointers;
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

/// Drains a pipe to its end; the beginning is kept.
std::string Drain(int fd) {
  std::string kept;
  std::array<char, 64U << 10> buffer;  // what a pipe holds
  for (;;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return kept;
    if (kept.size() < kKept) kept.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::string FirstLine(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {  // a colour: up to its letter
      while (i < text.size() && text[i] != 'm') ++i;
    } else {
      plain += text[i];
    }
  }
  for (std::size_t at = 0; at < plain.size();) {
    const std::size_t end = std::min(plain.find('\n', at), plain.size());
    const std::string line = plain.substr(at, end - at);
    const bool says = line.find_first_not_of(" \t\r") != std::string::npos;
    if (says && !line.starts_with("WARNING")) return line;
    at = end + 1;
  }
  return {};
}

Result<Process> Process::Start(const Command& command, Input input) {
  std::vector<char*> words = Pointers(command.argv);
  std::vector<char*> environment = Environment(command.environment);
  FdPair in;
  if (input == Input::kPipe) {
    IGLOO_ASSIGN(in, MakePipe());
  }
  IGLOO_ASSIGN(FdPair out, MakePipe());
  // A file, not a pipe: nobody waits when a peer has much to say.
  UniqueFd errors(::memfd_create("errors", MFD_CLOEXEC));
  FileActions actions;
  if (input == Input::kPipe) {
    actions.Place(in.first.get(), STDIN_FILENO);
  } else {
    actions.OpenNull(STDIN_FILENO, O_RDONLY);
  }
  actions.Place(out.second.get(), STDOUT_FILENO);
  actions.Place(errors.get(), STDERR_FILENO);
  pid_t pid = -1;
  const std::int64_t begin = MonotonicMicros();
  const int failed =
      ::posix_spawn(&pid, words[0], actions.get(), nullptr, words.data(), environment.data());
  if (failed != 0) return FailSys(failed, "cannot start '" + command.argv[0] + "'");
  Process process(pid, command.argv[0], begin);
  process.input_ = std::move(in.second);
  process.output_ = std::move(out.first);
  process.errors_ = std::move(errors);
  return process;
}

Process::~Process() {
  if (pid_.value <= 0) return;
  ::kill(pid_.value, SIGKILL);
  ::waitpid(pid_.value, nullptr, 0);
}

Result<ProcessRun> Process::Finish() {
  ProcessRun run{.begin = begin_};
  input_.Reset();
  run.output = Drain(output_.get());
  int status = 0;
  ::waitpid(pid_.value, &status, 0);
  run.end = MonotonicMicros();
  pid_.value = -1;
  if (::lseek(errors_.get(), 0, SEEK_SET) == 0) run.errors = Drain(errors_.get());
  if (status == 0) return run;
  const std::string said = FirstLine(run.errors);
  return Fail(
      Errc::kFailedPrecondition,
      said.empty() ? "'" + name_ + "' ended with wait status " + std::to_string(status) : said);
}

Result<ProcessRun> RunForked(const Words& argv) {
  std::vector<char*> words = Pointers(argv);
  std::vector<char*> environment = Environment({});
  IGLOO_ASSIGN(FdPair out, MakePipe());
  const std::int64_t begin = MonotonicMicros();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(out.second.get(), STDOUT_FILENO);
    ::execve(words[0], words.data(), environment.data());
    ::_exit(127);
  }
  if (pid < 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot fork");
  }
  out.second.Reset();
  ProcessRun run{.begin = begin};
  run.output = Drain(out.first.get());
  int status = 0;
  ::waitpid(pid, &status, 0);
  run.end = MonotonicMicros();
  if (status == 0) return run;
  return Fail(Errc::kFailedPrecondition,
              "'" + argv[0] + "' ended with wait status " + std::to_string(status));
}

Result<ProcessRun> RunSpawned(const Command& command) {
  IGLOO_ASSIGN(Process process, Process::Start(command));
  return process.Finish();
}

}  // namespace igloo::bench
