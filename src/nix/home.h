#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "nix/record.h"
#include "nix/wanted.h"

namespace igloo::nix {

/// An environment's directory below Settings::home:
///   flake/        the flake that igloo wrote, and flake.lock, which pins all that it is made of
///   record.json   what was made of it, and how the last attempt ended
///   result-HASH   links that keep what was made from Nix's collector
///   added.json    what 'igloo env add' was told, if it was
///   lock, use     held by who changes the directory, and by everyone who uses what was made
class Place {
 public:
  Place(const Settings& settings, const std::string& key) : path_(settings.home + "/" + key) {}

  const std::string& path() const { return path_; }
  std::string flake() const { return path_ + "/flake"; }
  std::string staged() const { return path_ + "/flake.new"; }
  std::string link(const std::string& out) const;

  /// Nothing was made yet: an empty record. What cannot be read counts as nothing, too.
  Record ReadRecord() const;
  Result<void> Write(const Record& record) const;
  /// The reference that 'igloo env add' was given; nullopt: it was not.
  std::optional<std::string> ReadAdded() const;
  Result<void> WriteAdded(const std::string& reference) const;
  Result<std::string> ReadLock() const;

  /// Makes the directory, for its owner alone.
  Result<void> Make() const;
  enum class Wait { kYes, kNo };
  /// The right to change it; with Wait::kNo an error when somebody else has it.
  Result<UniqueFd> Lock(Wait wait) const;
  /// Held by who uses what was made: its links stay.
  Result<UniqueFd> Use() const;
  /// Whether somebody is making it at this moment.
  bool Busy() const;
  /// Takes away links to what is not `kept`, unless somebody uses one of them. Needs the lock.
  void DropLinks(const std::string& kept) const;
  /// The whole directory. Fails while it is used or being made.
  Result<void> Remove() const;

 private:
  std::string path_;
};

/// What there is of an environment.
struct State {
  enum class Kind {
    kReady,     ///< as it is wanted
    kMissing,   ///< it was not made yet, or of something else
    kFailed,    ///< likewise, and the last attempt failed
    kBuilding,  ///< somebody makes it at this moment
  };
  Kind kind = Kind::kMissing;
  Built built = {};  ///< of kReady
  Error error = {};  ///< of all others: why it cannot be used, and what to do
};

/// Looks at files, starts nothing.
State Look(const Settings& settings, const Wanted& wanted);

/// What makes it, as people type it: for hints.
std::string BuildCommand(const Wanted& wanted);
/// The hint of a failure that says nothing better.
std::string AgainHint(const Wanted& wanted);

/// The keys of all directories there are.
std::vector<std::string> Keys(const Settings& settings);

/// What 'igloo env add' added, by name.
std::vector<Wanted> Added(const Settings& settings);

}  // namespace igloo::nix
