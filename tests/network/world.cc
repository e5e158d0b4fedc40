#include "world.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <future>

#include "base/file.h"

namespace igloo::testing {

namespace {

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "the tests' own networks cannot be made: %s\n", what.c_str());
  std::exit(1);
}

void WriteTo(const char* path, const std::string& text) {
  std::FILE* file = std::fopen(path, "we");
  if (file == nullptr || std::fputs(text.c_str(), file) < 0 || std::fclose(file) != 0) Die(path);
}

}  // namespace

void Shell(const std::string& line) {
  const Outcome outcome = RunProgram(
      {.program = "/bin/sh", .args = {"-ec", line}, .env = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}});
  if (outcome.status != 0) Die(line + ": " + outcome.err);
}

Namespace::Namespace() {
  std::promise<pid_t> born;
  thread_ = std::thread([this, &born] {
    if (::unshare(CLONE_NEWNET) != 0) Die("a network namespace");
    Shell("ip link set lo up");
    born.set_value(::gettid());
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return over_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  });
  tid_ = born.get_future().get();
}

Namespace::~Namespace() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Namespace::Run(const std::function<void()>& task) {
  std::promise<void> done;
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back([&] {
      task();
      done.set_value();
    });
  }
  changed_.notify_all();
  done.get_future().get();
}

UniqueFd Namespace::Listen(std::uint16_t& port) {
  UniqueFd fd = NewSocket();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(fd.get(), 1024), 0);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.sin_port);
  return fd;
}

UniqueFd Namespace::NewSocket() {
  UniqueFd fd;
  Run([&] { fd.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); });
  EXPECT_TRUE(fd);
  return fd;
}

Outcome Namespace::RunHere(std::vector<std::string> words, std::string input) {
  Outcome outcome;
  Invocation invocation{.program = words.front(),
                        .args = {words.begin() + 1, words.end()},
                        .input = std::move(input)};
  Run([&] { outcome = RunProgram(invocation); });
  return outcome;
}

namespace {
bool is_root = false;
}

bool World::IsRoot() { return is_root; }

void World::Enter() {
  const uid_t uid = ::geteuid();
  is_root = uid == 0;
  const gid_t gid = ::getegid();
  if (::unshare(uid == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET) != 0) Die("namespaces");
  if (uid == 0) return;
  WriteTo("/proc/self/setgroups", "deny");
  WriteTo("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1");
  WriteTo("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1");
}

World& World::Get() {
  static World world;
  return world;
}

void World::MakeCertificates() const {
  Shell(
      "cd " + files_.path() +
      "; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "
      "/CN=Test "
      "-keyout ca.key -out ca.pem 2>log;"
      "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=servers "
      "-keyout server.key -out server.csr 2>>log;"
      "echo subjectAltName=DNS:example.com,DNS:www.example.com,DNS:api.example,DNS:rebind.example "
      ">names;"
      "openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 "
      "-extfile names -out server.pem 2>>log; chmod 755 .; chmod 644 ca.pem");
}

void World::MakeFiles() const {
  Shell("mkdir " + files_.path() + "/www; cd " + files_.path() + R"(/www
    export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1
    git init -q -b main work; echo hello from git >work/README; git -C work add README
    git -C work -c user.name=t -c user.email=t@example.com commit -qm one
    git clone -q --bare work repo.git; git -C repo.git update-server-info

    mkdir -p simple/igtest
    python3 - <<'END'
import zipfile
with zipfile.ZipFile("simple/igtest/igtest-1-py3-none-any.whl", "w") as wheel:
    wheel.writestr("igtest.py", "SAYS = 'hello from pip'\n")
    wheel.writestr("igtest-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: igtest\nVersion: 1\n")
    wheel.writestr("igtest-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("igtest-1.dist-info/RECORD", "")
END
    echo '<a href="igtest-1-py3-none-any.whl">igtest-1-py3-none-any.whl</a>' >simple/igtest/index.html

    mkdir -p registry package
    echo '{"name": "igtest", "version": "1.0.0", "main": "index.js"}' >package/package.json
    echo 'module.exports = "hello from npm";' >package/index.js
    tar czf registry/igtest-1.0.0.tgz package
    digest=$(openssl dgst -sha512 -binary registry/igtest-1.0.0.tgz | base64 -w0)
    echo '{"name": "igtest", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "igtest",
      "version": "1.0.0", "dist": {"tarball": "https://example.com/files/registry/igtest-1.0.0.tgz",
      "integrity": "sha512-'"$digest"'"}}}}' >registry/igtest
  )");
}

World::World() : files_(TempDir::Make(TempParent()).value()) {
  MakeCertificates();
  MakeFiles();
  const std::string peer = std::to_string(internet_.tid());
  Shell(
      "ip link set lo up; ip addr add 93.184.217.1/32 dev lo;"
      "ip link add v0 type veth peer name v1; ip link set v1 netns " +
      peer +
      ";"
      "ip addr add 198.18.0.1/30 dev v0; ip -6 addr add fd99::1/64 dev v0 nodad; ip link set v0 "
      "up");
  internet_.Run([] {
    Shell(
        "ip addr add 198.18.0.2/30 dev v1; ip -6 addr add fd99::2/64 dev v1 nodad; ip link set v1 "
        "up;"
        "for a in 93.184.216.34 93.184.216.35 93.184.216.53 10.1.2.3 169.254.169.254;"
        "do ip addr add $a/32 dev lo; done;"
        "for a in 2606:4700::1 fd00::1; do ip -6 addr add $a/128 dev lo nodad; done;"
        "ip route add 93.184.217.1/32 via 198.18.0.1");
  });
  Shell("ip route add default via 198.18.0.2; ip -6 route add default via fd99::2");
  internet_.Run([&] {
    servers_ = std::make_unique<Running>(
        Invocation{.program = "/usr/bin/python3",
                   .args = {BinDirectory() + "/network-servers.py", files_.path() + "/server.pem",
                            files_.path() + "/server.key", files_.path() + "/www"}});
  });
  if (!servers_->WaitForOutput("READY\n")) Die("the servers: " + servers_->errors());
  Seen();
}

std::vector<std::string> World::Seen() {
  static int marks = 0;
  const std::string mark = std::to_string(++marks);
  servers_->Write(mark + "\n");
  std::vector<std::string> lines;
  while (auto line = servers_->NextLine()) {
    if (*line == "MARK " + mark) break;
    lines.push_back(*std::move(line));
  }
  return lines;
}

}  // namespace igloo::testing
