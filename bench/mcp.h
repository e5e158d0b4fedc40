#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/candidates.h"
#include "bench/peers.h"

namespace igloo::bench {

/// A number that has a bar of its own, in the unit that its name says.
struct Figure {
  std::string key = {}, name = {};
  double value = 0;
  std::optional<double> bar = {};  ///< at most; nothing: only told
};

/// What the MCP server costs, beyond the times among the candidates.
struct McpResults {
  std::vector<Figure> figures = {};
  std::string failure = {};  ///< why the rest could not be measured
};

/// Servers that are kept running for the candidates, each started when it is first asked.
class McpServers {
 public:
  /// `server` is igloo's, or another that has the tool `run`.
  McpServers(const Ground& ground, Command server);
  ~McpServers();

  /// The bare echo, igloo's server, and one made with the reference SDK if it is installed.
  std::vector<Candidate> Candidates();
  /// Of a new server: its memory when idle, with `calls` calls at once, and while a run prints
  /// 100 MB.
  McpResults Measure(unsigned calls) const;

 private:
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
