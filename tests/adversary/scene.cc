#include "scene.h"

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
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "base/file.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSecretText = "igloo-secret-of-the-host\n";

/// A scene that is not complete would let walls look strong.
void Require(bool done, const std::string& what) {
  if (!done) throw std::runtime_error("setting the scene: " + what + ": " + std::strerror(errno));
}

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  Require(::chmod(path.c_str(), 0666) == 0, path);
}

UniqueFd BoundSocket(int family, int type, const void* address, socklen_t size) {
  UniqueFd fd(::socket(family, type | SOCK_CLOEXEC, 0));
  Require(fd && ::bind(fd.get(), static_cast<const sockaddr*>(address), size) == 0, "bind");
  // Nobody accepts: a connection is made as soon as there is room in the queue.
  if (type == SOCK_STREAM) Require(::listen(fd.get(), 16) == 0, "listen");
  return fd;
}

UniqueFd UnixListener(const std::string& name, bool abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  Require(name.size() + 2 < sizeof address.sun_path, "the name of a socket");
  std::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  return BoundSocket(AF_UNIX, SOCK_STREAM, &address,
                     static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1));
}

UniqueFd LoopbackSocket(int type, int& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  UniqueFd fd = BoundSocket(AF_INET, type, &address, sizeof address);
  socklen_t size = sizeof address;
  Require(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0, "port");
  port = ntohs(address.sin_port);
  return fd;
}

void ReplaceAll(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

}  // namespace

Scene::Scene()
    : root_(TempDir::Make(TempParent()).value()), id_(fs::path(root_.path()).filename()) {
  undo_.name = "/" + id_;
  undo_.directory = fs::current_path();
  undo_.umask = ::umask(0);
  undo_.personality = ::personality(0xFFFFFFFF);
  Require(::chmod(path().c_str(), 0755) == 0, "chmod");
  PlantFiles();
  PlantSockets();
  PlantMemory();
  PlantKey();
  PlantHabits();
  StartVictim();
}

Scene::Undo::~Undo() {
  if (name.empty()) return;
  std::error_code ignored;  // a destructor has nobody to tell
  fs::current_path(directory, ignored);
  ::umask(umask);
  ::personality(static_cast<unsigned long>(personality));
  ::signal(SIGUSR1, SIG_DFL);
  ::unsetenv("IGLOO_TEST_SECRET");
  if (inherited >= 0) ::close(inherited);
  if (shared_memory >= 0) ::shmctl(shared_memory, IPC_RMID, nullptr);
  ::mq_unlink(name.c_str());
  ::shm_unlink(name.c_str());
}

void Scene::PlantFiles() {
  WriteText(path() + "/secret", kSecretText);
  fs::create_directory(path() + "/scratch");
  Require(::chmod((path() + "/scratch").c_str(), 01777) == 0, "chmod");
  WriteText(path() + "/scratch/file", "text\n");
  fs::create_directory(project());
  Require(::chmod(project().c_str(), 0777) == 0, "chmod");
  fs::copy_file(BinDirectory() + "/igloo-attack", attack_program());
  Require(::chmod(attack_program().c_str(), 0755) == 0, "chmod");
  WriteText(project() + "/file", "text\n");
  fs::create_symlink(path() + "/secret", project() + "/link");
  fs::create_symlink("../secret", project() + "/relative-link");
  Require(::mkfifo((project() + "/fifo").c_str(), 0666) == 0, "mkfifo");
  // Reading and writing: the end stays open without a partner, and a write succeeds at once.
  open_.emplace_back(::open((project() + "/fifo").c_str(), O_RDWR | O_CLOEXEC));
  Require(static_cast<bool>(open_.back()), "fifo");
}

void Scene::PlantSockets() {
  open_.push_back(LoopbackSocket(SOCK_STREAM, port_));
  open_.push_back(LoopbackSocket(SOCK_DGRAM, udp_port_));
  open_.push_back(UnixListener(id_, true));
  open_.push_back(UnixListener(path() + "/socket", false));
  open_.push_back(UnixListener(project() + "/socket", false));
}

void Scene::PlantMemory() {
  undo_.shared_memory = ::shmget(static_cast<key_t>(::getpid()), 4096, IPC_CREAT | 0666);
  Require(undo_.shared_memory >= 0, "shmget");
  void* at = ::shmat(undo_.shared_memory, nullptr, 0);
  Require(at != reinterpret_cast<void*>(-1), "shmat");
  std::strcpy(static_cast<char*>(at), kSecretText);
  ::shmdt(at);
  mq_attr attributes{};
  attributes.mq_maxmsg = 1;
  attributes.mq_msgsize = 64;
  open_.emplace_back(::mq_open(("/" + id_).c_str(), O_RDWR | O_CREAT, 0666, &attributes));
  Require(static_cast<bool>(open_.back()), "mq_open");
  UniqueFd shared(::shm_open(("/" + id_).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  Require(shared && WriteAll(shared.get(), kSecretText).has_value(), "shm_open");
}

void Scene::PlantKey() {
  constexpr int kJoinSession = 1, kSessionKeyring = -3;
  // A session of our own, so that no test leaves keys in the caller's. One for all scenes: a user
  // has 200 keys, and the kernel collects those of ended processes late.
  static const long session = ::syscall(SYS_keyctl, kJoinSession, nullptr);
  Require(session >= 0, "keyctl");
  Require(::syscall(SYS_add_key, "user", "igloo-test-key", kSecretText, std::strlen(kSecretText),
                    kSessionKeyring) >= 0,
          "add_key");
}

/// What a careless caller leaves lying around for its children.
void Scene::PlantHabits() {
  Require(::setenv("IGLOO_TEST_SECRET", kSecretText, 1) == 0, "setenv");
  fs::current_path(path());
  ::signal(SIGUSR1, SIG_IGN);
  // umask 0 is already set. Not close-on-exec, on purpose; far from the numbers tests use.
  UniqueFd directory(::open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  undo_.inherited = ::fcntl(directory.get(), F_DUPFD, 90);
  Require(undo_.inherited >= 90, "a descriptor to inherit");
  Require(::personality(ADDR_NO_RANDOMIZE) >= 0, "personality");
}

void Scene::StartVictim() {
  FdPair ready = MakePipe().value();
  victim_ = Spawn({.program = attack_program(),
                   .argv = {"igloo-attack", "victim", id_},
                   .env = Variables(),
                   .fds = {{ready.second.get(), 1}}})
                .value();
  ready.second.Reset();
  char byte = 0;
  Require(::read(ready.first.get(), &byte, 1) == 1, "the victim");
  // A sandbox numbers its own processes from 1: ours must not be one of those.
  Require(victim_.pid() > 64, "the victim's number");
}

bool Scene::VictimLives() const { return ::kill(victim_.pid(), 0) == 0; }

std::vector<std::string> Scene::Variables() {
  return {"PATH=/usr/bin:/bin", std::string("IGLOO_TEST_SECRET=") + kSecretText};
}

std::vector<std::string> Scene::Fill(std::vector<std::string> words, Side side) const {
  const bool inside = side == Side::kInside;
  const std::pair<const char*, std::string> values[] = {
      {"{project}", inside ? "/project" : project()},
      {"{scratch}", inside ? "/tmp" : path() + "/scratch"},
      {"{scene}", path()},
      {"{secret}", path() + "/secret"},
      {"{socket}", path() + "/socket"},
      {"{id}", id_},
      {"{port}", std::to_string(port_)},
      {"{udp-port}", std::to_string(udp_port_)},
      {"{shm-key}", std::to_string(::getpid())},
      {"{victim}", std::to_string(victim_.pid())},
  };
  for (std::string& word : words) {
    for (const auto& [name, value] : values) ReplaceAll(word, name, value);
  }
  return words;
}

}  // namespace igloo::testing
