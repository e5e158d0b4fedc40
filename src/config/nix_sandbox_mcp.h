#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "environment/artifact.h"

namespace igloo::config {

struct NixSandboxProject {
  std::string path = {};  ///< as it stands there; empty: there is none
  std::string mount_point = {};
  std::vector<std::string> inherit = {};  ///< names of variables
};

struct NixSandboxSession {
  std::optional<std::uint64_t> idle_seconds = {}, lifetime_seconds = {};
};

/// What NIX_SANDBOX_METADATA holds: the whole configuration of a nix-sandbox-mcp that Nix built.
/// SECURITY: it is data; the programs that it names are never executed.
struct NixSandboxMetadata {
  std::vector<environment::Artifact> environments = {};
  NixSandboxProject project = {};
  std::optional<NixSandboxSession> session = {};
};

/// Reads it; `store` knows the closures of what it names, and errors name `from`.
Result<NixSandboxMetadata> ReadNixSandboxMetadata(std::string_view text,
                                                  const environment::Store& store,
                                                  const std::string& from = "NIX_SANDBOX_METADATA");

/// The interpreter of an environment that does not say. nix-sandbox-mcp went by its name, and
/// started those that it made of flakes with `bash -s`.
std::string InterpreterByName(std::string_view name);

}  // namespace igloo::config
