#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/spawn.h"
#include "base/temp_dir.h"
#include "base/unique_fd.h"

namespace igloo::prove {

/// Which side of the wall a word of an attack is for: the same file has two names.
enum class Side { kInside, kHost };

/// A host with something to steal: files, sockets, a process, keys, shared memory, and a caller
/// (this program) with variables, descriptors and habits that must not come along. Everybody on the
/// host may read it, so that only the wall can be what holds. What the machine does not have (a
/// keyring, message queues) is left out: the attack on it cannot win then, which its control shows.
class Scene {
 public:
  /// Below `parent`, with a copy of `program`, which is igloo-attack.
  static Result<Scene> Make(const std::string& parent, const std::string& program);
  Scene(Scene&&) noexcept = default;

  /// Replaces {project}, {scratch}, {secret}, {port} and so on in the words of an attack.
  std::vector<std::string> Fill(std::vector<std::string> words, Side side) const;

  const std::string& path() const { return root_.path(); }
  std::string project() const { return path() + "/project"; }
  std::string attack_program() const { return project() + "/igloo-attack"; }
  pid_t victim() const { return victim_.pid(); }
  bool VictimLives() const;
  /// A directory of the host that a careless caller leaves open for its children.
  int inherited() const { return undo_->inherited; }

  /// Does what a program of the host does with a file of the project, for whoever watches it.
  void UseProjectFile() const;

  /// Undoes what one attack did to the next one's chances: a new scratch directory, a new victim
  /// when the old one was killed.
  Result<void> Renew();

  /// What programs of the host find in their environment.
  static std::vector<std::string> Variables();

 private:
  /// Undoes what the scene changed in this process and left in the kernel, also when setting it
  /// failed half-way.
  struct Undo {
    Undo() = default;
    Undo(const Undo&) = delete;
    ~Undo();
    std::string id = {};
    int shared_memory = -1;
    int inherited = -1;
    std::string directory = {};
    mode_t umask = 0;
    int personality = 0;
  };

  explicit Scene(TempDir root);
  Result<void> PlantFiles(const std::string& program);
  Result<void> PlantSockets();
  void PlantMemory();
  void PlantKey();
  Result<void> PlantHabits();
  Result<void> MakeScratch();
  Result<void> StartVictim();

  std::unique_ptr<Undo> undo_ = std::make_unique<Undo>();
  TempDir root_;
  std::string id_;  ///< makes every name of this scene its own
  std::vector<UniqueFd> open_ = {};
  Child victim_ = {};
  int port_ = 0, udp_port_ = 0;
  int shared_key_ = 0;
  int scratches_ = 0;
  std::string scratch_ = {};
};

}  // namespace igloo::prove
