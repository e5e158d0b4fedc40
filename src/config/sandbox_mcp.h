#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"

namespace igloo::config {

/// One sandbox as sandbox-mcp's config.json describes it: a tool, and what a call of it gets. What
/// the file does not say has the value that it has here; what no number limits is limited by the
/// environment.
struct SandboxSpec {
  /// A file that every call must bring.
  struct File {
    std::string name = {}, description = {};
    bool operator==(const File&) const = default;
  };
  /// What clients are told, instead of what follows from the rest.
  struct Hints {
    std::optional<bool> read_only = {}, destructive = {}, idempotent = {}, external = {};
    bool operator==(const Hints&) const = default;
  };
  struct Security {
    bool read_only = false;
    std::vector<std::string> cap_drop = {"all"};
    std::vector<std::string> options = {"no-new-privileges:true"};
    std::string network = "none";
    bool operator==(const Security&) const = default;
  };
  struct Resources {
    std::optional<std::uint64_t> cpu = {}, memory_mb = {}, processes = {}, files = {};
    bool operator==(const Resources&) const = default;
  };
  struct Mount {
    std::string workdir = "/sandbox";
    std::string tmpdir_prefix = "sandbox-mcp-";
    std::uint32_t script_perms = 0755;
    bool read_only = false;
    bool operator==(const Mount&) const = default;
  };

  std::string id = {};    ///< the tool's name
  std::string name = {};  ///< its title; empty: the id
  std::string description = {};
  Hints hints = {};
  std::string version = {};
  std::string image = {};  ///< which environment; empty: the one with the name of the id
  std::string user = "sandbox";
  std::string entrypoint = {};  ///< the file that receives the code
  std::uint64_t timeout_seconds = 60;
  std::vector<std::string> before = {};
  std::vector<std::string> command = {};
  bool additional_files = false;
  std::vector<File> files = {};
  Security security = {};
  Resources resources = {};
  Mount mount = {};

  bool operator==(const SandboxSpec&) const = default;
};

/// A config.json, understood as far as it goes.
struct DecodedSandbox {
  SandboxSpec spec = {};               ///< to be used only without problems
  std::vector<Problem> problems = {};  ///< each of them makes the sandbox unusable
  std::vector<Problem> notes = {};     ///< went on without it: unknown keys, bad permissions
};

/// Pure. Keys are found whatever the case of their letters, and null is as good as nothing, as they
/// always were for these files.
DecodedSandbox DecodeSandbox(std::string_view text);

/// The text of a config.json that means `spec`.
std::string EncodeSandbox(const SandboxSpec& spec);

/// The environment that a sandbox names: "sandbox-mcp/python:latest" and "python" are python, and
/// without an image its id is. Empty: it names an image, which is something else than an
/// environment of a like name ("python:3.12-slim").
std::string_view EnvironmentNameOf(const SandboxSpec& spec);

/// A name for a file in the working directory: one part of a path, and nothing but that.
bool IsPlainFileName(std::string_view name);

/// The tool's parameter for a file: "main.sh" comes as "main_sh".
std::string ParameterFor(std::string_view file);

}  // namespace igloo::config
