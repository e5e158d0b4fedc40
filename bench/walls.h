#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "bench/peers.h"

namespace igloo::bench {

/// Which walls a program finds around itself. Asked inside, not taken from a manual, so a peer
/// that was started with the wrong flags cannot look good.
struct Walls {
  std::vector<std::string> shared = {};  ///< namespaces of the host's that it is in
  bool filter = false;                   ///< a seccomp filter
  bool no_new_privileges = false;        ///< or a kernel that does not say
  bool no_capabilities = false;
  bool usr_read_only = false;
  bool host_hidden = false;  ///< a file of the host's outside /usr is not there

  /// "7 namespaces, filter, ..." and what is missing, for people.
  std::string Describe() const;
};

/// What `ProbeScript` printed, beside the namespaces of whoever asks.
Walls ReadWalls(const std::string& printed, const std::string& host);

/// The words of the question; their output goes to ReadWalls.
Words ProbeWords();

/// A peer and its walls; `failure` when it could not answer, `absent` when it is not installed.
struct Inspected {
  std::string key = {}, name = {}, version = {}, note = {};
  Walls walls = {};
  std::string failure = {};
  bool absent = false;
};

std::vector<Inspected> InspectPeers(Ground& ground);

}  // namespace igloo::bench
