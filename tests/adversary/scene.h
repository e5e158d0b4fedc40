#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/spawn.h"
#include "base/temp_dir.h"
#include "base/unique_fd.h"

namespace igloo::testing {

/// Which side of the wall a word of an attack is for: the same file has two names.
enum class Side { kInside, kHost };

/// A host with something to steal: files, sockets, a process, keys, shared memory, and a caller
/// (this test program) with variables, descriptors and habits that must not come along. All of it
/// is open to everybody on the host, so that only the wall can be what holds.
class Scene {
 public:
  Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  /// Replaces {project}, {scratch}, {secret}, {port} and so on in the words of an attack.
  std::vector<std::string> Fill(std::vector<std::string> words, Side side) const;

  const std::string& path() const { return root_.path(); }
  std::string project() const { return path() + "/project"; }
  std::string attack_program() const { return project() + "/igloo-attack"; }
  pid_t victim() const { return victim_.pid(); }
  bool VictimLives() const;

  /// What programs of the host find in their environment.
  static std::vector<std::string> Variables();

 private:
  void PlantFiles();
  void PlantSockets();
  void PlantMemory();
  void PlantKey();
  void PlantHabits();
  void StartVictim();

  /// Undoes what the scene changed in this process and left in the kernel, also when setting it
  /// failed half-way.
  struct Undo {
    ~Undo();
    std::string name = {};
    int shared_memory = -1;
    int inherited = -1;
    std::string directory = {};
    mode_t umask = 0;
    int personality = 0;
  };

  Undo undo_ = {};
  TempDir root_;
  std::string id_;  ///< makes every name of this scene its own
  std::vector<UniqueFd> open_ = {};
  Child victim_ = {};
  int port_ = 0, udp_port_ = 0;
};

}  // namespace igloo::testing
