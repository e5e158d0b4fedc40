#include "prove/scene.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "prove/marked.h"

namespace igloo::prove {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSecretText = "igloo-secret-of-the-host\n";
constexpr const char* kVariable = "IGLOO_PROVE_SECRET";
/// A sandbox numbers its own processes from 1: the victim must not have such a number.
constexpr pid_t kHighestInside = 64;

Result<void> Done(bool done, const std::string& what) {
  if (done) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "cannot set the scene of the attacks: " + what);
}

Result<void> Done(const std::error_code& error, const std::string& what) {
  errno = error.value();
  return Done(!error, what);
}

Result<void> WriteText(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  IGLOO_TRY(Done(static_cast<bool>(file), path));
  IGLOO_TRY(WriteAll(file.get(), text));
  return Done(::fchmod(file.get(), 0666) == 0, path);
}

Result<void> MakeDirectory(const std::string& path) {
  return Done(::mkdir(path.c_str(), 0755) == 0 && ::chmod(path.c_str(), 0755) == 0, path);
}

UniqueFd BoundSocket(int family, int type, const void* address, socklen_t size) {
  UniqueFd fd(::socket(family, type | SOCK_CLOEXEC, 0));
  if (!fd || ::bind(fd.get(), static_cast<const sockaddr*>(address), size) != 0) return {};
  // Nobody accepts: a connection is made as soon as there is room in the queue.
  if (type == SOCK_STREAM && ::listen(fd.get(), 128) != 0) return {};
  return fd;
}

Result<UniqueFd> UnixListener(const std::string& name, bool abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 2 >= sizeof address.sun_path) {
    return Fail(Errc::kFailedPrecondition, "the name of a socket would be too long: '" + name + "'",
                "set TMPDIR to a directory with a short name, such as /tmp");
  }
  std::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  UniqueFd fd =
      BoundSocket(AF_UNIX, SOCK_STREAM, &address,
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1));
  IGLOO_TRY(Done(static_cast<bool>(fd), name));
  if (!abstract) IGLOO_TRY(Done(::chmod(name.c_str(), 0666) == 0, name));
  return fd;
}

/// None on a machine without loopback: the attacks on it cannot win there.
UniqueFd LoopbackSocket(int type, int& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  UniqueFd fd = BoundSocket(AF_INET, type, &address, sizeof address);
  socklen_t size = sizeof address;
  if (fd && ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    port = ntohs(address.sin_port);
  }
  return fd;
}

void ReplaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

/// The word by which a process that an attack left behind is found.
std::string MarkerOf(const std::string& id) { return "left-" + id; }

}  // namespace

Scene::Scene(TempDir root)
    : root_(std::move(root)), id_(fs::path(root_.path()).filename().string()) {
  std::error_code ignored;  // a caller whose directory is gone has none to return to
  undo_->id = id_;
  undo_->directory = fs::current_path(ignored).string();
  undo_->umask = ::umask(0);
  undo_->personality = ::personality(0xFFFFFFFF);
}

Result<Scene> Scene::Make(const std::string& parent, const std::string& program) {
  struct statvfs place{};
  if (::statvfs(parent.c_str(), &place) == 0 && (place.f_flag & ST_NOEXEC) != 0) {
    return Fail(Errc::kFailedPrecondition,
                "no program can be started from '" + parent + "', which is mounted noexec",
                "set TMPDIR to a directory from which programs can be started");
  }
  IGLOO_ASSIGN(TempDir root, TempDir::Make(parent));
  Scene scene(std::move(root));
  IGLOO_TRY(scene.PlantFiles(program));
  IGLOO_TRY(scene.PlantSockets());
  scene.PlantMemory();
  scene.PlantKey();
  IGLOO_TRY(scene.PlantHabits());
  IGLOO_TRY(scene.StartVictim());
  return scene;
}

Scene::Undo::~Undo() {
  if (id.empty()) return;
  std::error_code ignored;  // a destructor has nobody to tell
  fs::current_path(directory, ignored);
  ::umask(umask);
  ::personality(static_cast<unsigned long>(personality));
  ::signal(SIGUSR1, SIG_DFL);
  ::unsetenv(kVariable);
  if (inherited >= 0) ::close(inherited);
  if (shared_memory >= 0) ::shmctl(shared_memory, IPC_RMID, nullptr);
  ::mq_unlink(("/" + id).c_str());
  ::shm_unlink(("/" + id).c_str());
  EndMarked(MarkerOf(id));
}

// SECURITY: only the caller may write to these directories. Another user of this machine could
// otherwise exchange the program that a control starts, or plant a link where a control writes.
Result<void> Scene::PlantFiles(const std::string& program) {
  IGLOO_TRY(Done(::chmod(path().c_str(), 0755) == 0, path()));
  IGLOO_TRY(WriteText(path() + "/secret", kSecretText));
  IGLOO_TRY(MakeScratch());
  IGLOO_TRY(MakeDirectory(project()));
  std::error_code error;
  fs::copy_file(program, attack_program(), error);
  IGLOO_TRY(Done(error, program));
  IGLOO_TRY(Done(::chmod(attack_program().c_str(), 0755) == 0, attack_program()));
  IGLOO_TRY(WriteText(project() + "/file", "text\n"));
  fs::create_symlink(path() + "/secret", project() + "/link", error);
  IGLOO_TRY(Done(error, "a link"));
  fs::create_symlink("../secret", project() + "/relative-link", error);
  IGLOO_TRY(Done(error, "a link"));
  const std::string fifo = project() + "/fifo";
  IGLOO_TRY(Done(::mkfifo(fifo.c_str(), 0666) == 0, fifo));
  // Reading and writing: the end stays open without a partner, and a write succeeds at once.
  open_.emplace_back(::open(fifo.c_str(), O_RDWR | O_CLOEXEC));
  return Done(static_cast<bool>(open_.back()), fifo);
}

Result<void> Scene::MakeScratch() {
  scratch_ = path() + "/scratch";
  if (scratches_++ > 0) scratch_ += "-" + std::to_string(scratches_);
  IGLOO_TRY(MakeDirectory(scratch_));
  return WriteText(scratch_ + "/file", "text\n");
}

Result<void> Scene::PlantSockets() {
  open_.push_back(LoopbackSocket(SOCK_STREAM, port_));
  open_.push_back(LoopbackSocket(SOCK_DGRAM, udp_port_));
  const std::pair<std::string, bool> names[] = {
      {id_, true}, {path() + "/socket", false}, {project() + "/socket", false}};
  for (const auto& [name, abstract] : names) {
    IGLOO_ASSIGN(UniqueFd listener, UnixListener(name, abstract));
    open_.push_back(std::move(listener));
  }
  return {};
}

void Scene::PlantMemory() {
  // A key that nobody else has: another user's segment must not become the scene's.
  constexpr int kTries = 16;
  for (int i = 0; i < kTries && undo_->shared_memory < 0; ++i) {
    shared_key_ = ::getpid() + (i << 23);
    undo_->shared_memory =
        ::shmget(static_cast<key_t>(shared_key_), 4096, IPC_CREAT | IPC_EXCL | 0666);
  }
  void* at = undo_->shared_memory < 0 ? nullptr : ::shmat(undo_->shared_memory, nullptr, 0);
  if (at != nullptr && at != reinterpret_cast<void*>(-1)) {
    std::strcpy(static_cast<char*>(at), kSecretText);
    ::shmdt(at);
  }
  mq_attr attributes{};
  attributes.mq_maxmsg = 1;
  attributes.mq_msgsize = 64;
  const std::string name = "/" + id_;
  open_.emplace_back(::mq_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0666, &attributes));
  const UniqueFd shared(::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (shared) (void)WriteAll(shared.get(), kSecretText);
}

void Scene::PlantKey() {
  constexpr int kJoinSession = 1, kSessionKeyring = -3;
  // A session of our own, so that nothing is left in the caller's. One for all scenes: a user has
  // 200 keys, and the kernel collects those of ended processes late.
  static const long session = ::syscall(SYS_keyctl, kJoinSession, nullptr);
  if (session < 0) return;
  ::syscall(SYS_add_key, "user", "igloo-prove-key", kSecretText, std::strlen(kSecretText),
            kSessionKeyring);
}

/// What a careless caller leaves lying around for its children.
Result<void> Scene::PlantHabits() {
  IGLOO_TRY(Done(::setenv(kVariable, kSecretText, 1) == 0, "a variable"));
  IGLOO_TRY(Done(::chdir(path().c_str()) == 0, path()));
  ::signal(SIGUSR1, SIG_IGN);
  // umask 0 is already set. Not close-on-exec, on purpose; far from the numbers that igloo uses.
  const UniqueFd directory(::open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  undo_->inherited = ::fcntl(directory.get(), F_DUPFD, 90);
  IGLOO_TRY(Done(undo_->inherited >= 90, "a descriptor to inherit"));
  ::personality(ADDR_NO_RANDOMIZE);
  return {};
}

Result<void> Scene::StartVictim() {
  for (pid_t pid = 0; pid <= kHighestInside; pid = victim_.pid()) {
    IGLOO_ASSIGN(FdPair ready, MakePipe());
    IGLOO_ASSIGN(victim_, Spawn({.program = attack_program(),
                                 .argv = {"igloo-attack", "victim", id_},
                                 .env = Variables(),
                                 .fds = {{ready.second.get(), 1}}}));
    ready.second.Reset();
    char byte = 0;
    IGLOO_TRY(Done(::read(ready.first.get(), &byte, 1) == 1, "a process to attack"));
  }
  return {};
}

Result<void> Scene::Renew() {
  IGLOO_TRY(MakeScratch());
  return VictimLives() ? Result<void>() : StartVictim();
}

void Scene::UseProjectFile() const { (void)ReadFile(project() + "/file", 1U << 16); }

bool Scene::VictimLives() const {
  // One that was killed stays until it is reaped.
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(victim_.pid()), &ended, WEXITED | WNOHANG | WNOWAIT) ==
             0 &&
         ended.si_pid == 0;
}

std::vector<std::string> Scene::Variables() {
  return {"PATH=/usr/bin:/bin", std::string(kVariable) + "=" + kSecretText};
}

std::vector<std::string> Scene::Fill(std::vector<std::string> words, Side side) const {
  const bool inside = side == Side::kInside;
  const std::pair<const char*, std::string> values[] = {
      {"{project}", inside ? "/project" : project()},
      {"{scratch}", inside ? "/tmp" : scratch_},
      {"{scene}", path()},
      {"{secret}", path() + "/secret"},
      {"{socket}", path() + "/socket"},
      {"{marker}", MarkerOf(id_)},
      {"{id}", id_},
      {"{port}", std::to_string(port_)},
      {"{udp-port}", std::to_string(udp_port_)},
      {"{shm-key}", std::to_string(shared_key_)},
      {"{victim}", std::to_string(victim_.pid())},
  };
  for (std::string& word : words) {
    for (const auto& [name, value] : values) ReplaceAll(word, name, value);
  }
  return words;
}

}  // namespace igloo::prove
