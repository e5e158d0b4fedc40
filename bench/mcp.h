#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/candidates.h"
#include "bench/figures.h"
#include "bench/peers.h"

namespace igloo::bench {

/// Servers that are kept running for the candidates, each started when it is first asked.
class McpServers {
 public:
  /// `server` is igloo's, or another that has the tool `run`.
  McpServers(Ground& ground, Command server);
  ~McpServers();

  /// The bare echo, igloo's server, and one made with the reference SDK if it is installed.
  std::vector<Candidate> Candidates();
  /// Of a new server: its memory when idle, with `calls` calls at once, and while a run prints
  /// 100 MB.
  Figures Measure(unsigned calls) const;
  /// Of new ones: how even calls in fresh sandboxes are, and what `sessions` at once cost.
  Figures MeasureReady(unsigned calls, unsigned sessions) const;

 private:
  void PrepareReady(Ground& ground);

  struct Shared;
  std::shared_ptr<Shared> shared_;  // shared with the candidates
};

/// An answer's id as JSON, and whether it is a result that tells of no error.
struct McpAnswer {
  std::string id = {};
  bool fine = false;
};
/// Nothing for what is not an answer: progress, for example.
std::optional<McpAnswer> ReadAnswer(const std::string& line);

}  // namespace igloo::bench
