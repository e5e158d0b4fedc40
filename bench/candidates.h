#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/jail/jail.h"
#include "base/error.h"
#include "bench/peers.h"
#include "bench/samples.h"
#include "bench/sustained.h"
#include "bench/timeline.h"

namespace igloo::bench {

/// What a chart makes of a candidate: igloo's ways to run a program and those of others.
enum class Group { kDetail, kIgloo, kPeer };

/// One thing that is measured.
struct Candidate {
  std::string key = {};      ///< for goals and JSON
  std::string name = {};     ///< for people
  std::string against = {};  ///< the key of bwrap's counterpart, or empty
  unsigned every = 1;        ///< takes part in every n-th round: slow ones stay few
  Group group = Group::kDetail;
  Once once = {};  ///< not set: it is not installed
  /// Its like comes right before the quiet that comes before each sample: its bar was taken from
  /// runs that followed each other.
  bool one_of_many = false;
  Samples samples = {};
  std::string failure = {};  ///< why it could not be measured
};

const Candidate* Find(const std::vector<Candidate>& candidates, std::string_view key);

class BoxRuns;
class McpServers;
class NetworkRuns;

/// The candidates and what they share. Not moved: they point into each other.
class Field {
 public:
  /// `cache` is where peers from npm were installed; `mcp` is the command of an MCP server to
  /// measure instead of igloo's own. Both may be empty.
  static Result<std::unique_ptr<Field>> Make(std::string cache, Words mcp = {});
  ~Field();
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  std::vector<Candidate>& candidates() { return candidates_; }
  const Timeline& one_shot_timeline() const;
  const Timeline& prepared_timeline() const;
  const Samples& output_peak() const;
  const McpServers& mcp() const;
  NetworkRuns& network();
  /// How often no interpreter was ready for a sample of one.
  unsigned pool_misses() const;
  Ground& ground();
  const backend::Programs& programs() const;

 private:
  struct Shared;
  explicit Field(std::unique_ptr<Shared> shared);
  Result<void> AddPeers();
  void AddPrograms();
  void AddOutput();
  void AddMcp(Words server);
  Result<void> AddLauncher();
  void AddReady();
  Result<void> AddStore(std::size_t packages, unsigned every);
  void AddClosure(std::size_t packages);
  void AddArtifacts();
  void AddNetwork();
  void AddBoxes();

  std::unique_ptr<Shared> shared_;
  std::vector<Candidate> candidates_ = {};
};

/// igloo's two ways, bwrap and the bare program, each for some windows of time.
std::vector<Sustained> SustainAll(Field& field, Windows windows);

}  // namespace igloo::bench
