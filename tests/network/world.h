#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/temp_dir.h"
#include "base/unique_fd.h"
#include "support/igloo.h"
#include "support/running.h"

namespace igloo::testing {

/// A network namespace of its own, with a thread that lives in it.
class Namespace {
 public:
  Namespace();
  ~Namespace();
  /// Runs a function there and waits for it.
  void Run(const std::function<void()>& task);
  /// A thread's id, for programs that want a namespace's.
  pid_t tid() const { return tid_; }

  /// A socket that listens there on 127.0.0.1, any port.
  UniqueFd Listen(std::uint16_t& port);
  /// A TCP socket that was made there and is not connected.
  UniqueFd NewSocket();
  /// A program that runs there to its end.
  Outcome RunHere(std::vector<std::string> words, std::string input = {});

 private:
  std::thread thread_;
  pid_t tid_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_ = {};  // guarded by mutex_
  bool over_ = false;                             // guarded by mutex_
};

/// Three networks: that of this process, where the proxy runs ("outside"), one behind a wire with
/// servers on public and closed addresses ("the Internet"), and one with nothing but loopback
/// ("inside"). Made once a process; nothing of it is seen by the machine.
class World {
 public:
  static World& Get();
  /// To be called before any thread is started: this process enters namespaces of its own.
  static void Enter();
  /// Whether root itself made it; in a user's own namespace everybody is root.
  static bool IsRoot();

  Namespace& inside() { return inside_; }
  /// What has reached servers since the last call, as lines: "HIT address port method path",
  /// "QUERY name type".
  std::vector<std::string> Seen();
  /// PEM of the one authority whose certificates the servers have.
  std::string roots_file() const { return files_.path() + "/ca.pem"; }

 private:
  World();
  void MakeCertificates() const;
  /// What git, pip and npm fetch, as their servers offer it: a repository, an index, a registry.
  void MakeFiles() const;

  TempDir files_;
  Namespace internet_, inside_;
  std::unique_ptr<Running> servers_ = {};
};

/// Runs a shell's line in this process's namespaces; fails the test program when it fails.
void Shell(const std::string& line);

}  // namespace igloo::testing
