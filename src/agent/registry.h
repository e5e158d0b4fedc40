#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::agent {

/// What is known about a box from outside.
struct BoxInfo {
  std::string name = {};
  std::string agent = {};  ///< the profile's name, or the program
  std::string project = {};
  std::string network = {};  ///< its tier
  std::int64_t started = 0;  ///< seconds since 1970
  std::int64_t process = 0;  ///< the igloo that it belongs to
  bool in_tmux = false;      ///< its terminal is one of igloo's own (TmuxTerminal)
  bool paused = false;
  /// The limits that it ran into since it began: "memory", "processes".
  std::vector<std::string> hits = {};
  bool operator==(const BoxInfo&) const = default;
};

/// The boxes of one user: a directory of igloo's state with a lock and a description for each. The
/// igloo that a box belongs to holds the lock, so whether a box is alive is never a guess.
class BoxRegistry {
 public:
  /// `directory`: .../igloo/boxes. Made if it is missing.
  static Result<BoxRegistry> Open(const std::string& directory);

  /// A box's place in the registry; dropping it takes it out.
  class Place {
   public:
    Place(Place&& other) noexcept;
    Place& operator=(Place&&) = delete;
    ~Place();
    const std::string& name() const { return info_.name; }
    const BoxInfo& info() const { return info_; }
    /// What others see from now on. Name and process stay.
    Result<void> Update(BoxInfo info);

   private:
    friend class BoxRegistry;
    Place(std::string directory, BoxInfo info, UniqueFd lock)
        : directory_(std::move(directory)), info_(std::move(info)), lock_(std::move(lock)) {}
    std::string directory_;
    BoxInfo info_;
    UniqueFd lock_;
  };

  /// Enters a box under `info.name`, which is to be free, or under that or the first free one of
  /// "name-2", "name-3", .... A name is not free while a terminal of igloo's own has it, unless the
  /// box runs in that one.
  enum class Name { kExactly, kOrNext };
  Result<Place> Enter(BoxInfo info, Name name) const;

  /// Those that are alive, by name. What dead ones left is removed.
  Result<std::vector<BoxInfo>> List() const;
  /// The names of dead ones, of which something is left until the next List().
  Result<std::vector<std::string>> Dead() const;
  /// One of them. Fails with the names that there are.
  Result<BoxInfo> Find(std::string_view name) const;
  /// Those of one project (its real path), the oldest first.
  Result<std::vector<BoxInfo>> OfProject(const std::string& project) const;

  /// For whoever joins the box of a project instead of starting a second one.
  struct BoxOrTurn {
    std::optional<BoxInfo> box = {};  ///< the one to join
    /// There is none: who holds this may start it. To be dropped once that is in the registry;
    /// others who want to join wait so long.
    UniqueFd turn = {};
  };
  /// The oldest box of a project in which `agent` runs, or the turn to start it.
  Result<BoxOrTurn> JoinOrStart(const std::string& project, const std::string& agent) const;
  /// Removes the empty files by which turns are taken, as far as nobody has or awaits one.
  void RemoveTurns() const;

  /// The socket on which the igloo of a box listens.
  std::string SocketOf(const std::string& name) const;
  /// The socket of the tmux server whose terminal a box has, if it has one.
  std::string TmuxSocketOf(const std::string& name) const;
  /// The names that such servers have, alive or not, in their order.
  Result<std::vector<std::string>> TmuxNames() const;
  const std::string& directory() const { return directory_; }
  /// Tells the igloo of a box to end it, and waits until it has.
  Result<void> Stop(const BoxInfo& box) const;

 private:
  explicit BoxRegistry(std::string directory) : directory_(std::move(directory)) {}
  std::optional<BoxInfo> Read(const std::string& name) const;
  std::string directory_;
};

/// Whether a box can have this name: letters, digits, '.', '_' and '-', 64 at most, and none of the
/// words that `igloo agent` knows.
Result<void> CheckBoxName(std::string_view name);

}  // namespace igloo::agent
