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
    const std::string& name() const { return name_; }

   private:
    friend class BoxRegistry;
    Place(std::string directory, std::string name, UniqueFd lock)
        : directory_(std::move(directory)), name_(std::move(name)), lock_(std::move(lock)) {}
    std::string directory_, name_;
    UniqueFd lock_;
  };

  /// Enters a box under `info.name`, which is to be free; nullopt: under that or the first free one
  /// of "name-2", "name-3", ....
  enum class Name { kExactly, kOrNext };
  Result<Place> Enter(BoxInfo info, Name name) const;

  /// Those that are alive, by name. What dead ones left is removed.
  Result<std::vector<BoxInfo>> List() const;
  /// One of them. Fails with the names that there are.
  Result<BoxInfo> Find(std::string_view name) const;
  /// The socket on which the igloo of a box listens.
  std::string SocketOf(const std::string& name) const;
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
