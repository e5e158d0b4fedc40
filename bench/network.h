#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/candidates.h"
#include "bench/figures.h"

namespace igloo::bench {

/// igloo-proxy on this machine's loopback between a client and a server that are both here, beside
/// no proxy at all and haproxy in the same place.
class NetworkRuns {
 public:
  /// `programs`: the directory of igloo-proxy.
  explicit NetworkRuns(std::string programs);
  ~NetworkRuns();

  std::vector<Candidate> Candidates();
  /// What many connections that nobody uses cost it.
  Figures MeasureIdle(unsigned connections);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace igloo::bench
