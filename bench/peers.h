#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/temp_dir.h"
#include "bench/process.h"

namespace igloo::bench {

/// What sandboxes are set up with: igloo's own directory, where peers from npm were installed, a
/// root made of mount points and a place for bundles.
class Ground {
 public:
  static Result<Ground> Make(std::string programs, std::string cache);

  const std::string& programs() const { return programs_; }
  const std::string& cache() const { return cache_; }
  const std::string& directory() const { return directory_.path(); }
  std::string root() const { return directory_.path() + "/root"; }
  /// A name that no other sandbox of this run has.
  std::string NextName() { return "igloo-bench-" + std::to_string(++names_); }

 private:
  explicit Ground(TempDir directory) : directory_(std::move(directory)) {}
  TempDir directory_;
  std::string programs_ = {}, cache_ = {};
  unsigned names_ = 0;
};

/// A way to run a program in a sandbox of its own, with everything built for this one run.
struct Peer {
  std::string_view key, name;
  /// Looked for in PATH; with a '/', below the cache, where '*' stands for any one name.
  std::string_view program;
  std::string_view install;
  std::string_view note;  ///< what measuring its walls cannot see
  unsigned every = 1;     ///< slow ones are measured less often
  /// The command that runs `inside`, each time a sandbox that may run beside the others.
  Result<Command> (*command)(const std::string& program, Ground& ground, const Words& inside);
};

/// igloo and bwrap first.
std::span<const Peer> Peers();

/// How `inside` is run by the peer of that name. Fails when it is not installed.
Result<Command> Through(std::string_view key, Ground& ground, const Words& inside);

/// Where the peer's program is, or empty.
std::string FindProgram(const Peer& peer, const Ground& ground);

}  // namespace igloo::bench
