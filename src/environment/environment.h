#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy.h"
#include "wall/walls.h"

namespace igloo::environment {

/// How much a run may write, and how much of what it says is kept.
struct Room {
  std::uint64_t disk_bytes = 256ULL << 20;  ///< of each place that it can write to
  std::uint64_t disk_files = 65536;         ///< likewise
  std::uint64_t output_bytes = 8ULL << 20;  ///< of each stream; the rest is counted and dropped
  bool operator==(const Room&) const = default;
};

/// How an interpreter gets its code.
enum class CodePassing {
  kFile,      ///< the path of a file with it stands behind the interpreter's words
  kArgument,  ///< the code itself does; the kernel allows 128 KB
  kInput,     ///< on standard input
};

/// What whoever built an environment says that it needs: only its own section of a configuration
/// says otherwise, not what counts for all.
struct Asked {
  std::string network = {}, backend = std::string(wall::kDefault.name);
  bool processes = false, open_files = false;  ///< it has numbers of its own
};

/// What is inside a sandbox: programs, interpreter, defaults. Data; a provider fills it in.
struct Environment {
  std::string name = {};
  std::vector<std::string> aliases = {};
  std::string description = {};
  std::string provider = {};  ///< "host", "artifact", "image"
  std::vector<sandbox::Entry> contents = {};
  std::map<std::string, std::string> variables = {};
  /// The interpreter and its options; what `passing` says comes behind them.
  std::vector<std::string> interpreter = {};
  CodePassing passing = CodePassing::kFile;
  /// The name of the interpreter's language where it takes files and that language has a driver:
  /// igloo can keep it alive then. Empty: it runs one piece of code and ends.
  std::string language = {};
  bool conveniences = true;    ///< what igloo adds to some interpreters (ConveniencesOf)
  std::string code_file = {};  ///< its name, e.g. "main.py": interpreters look at the ending
  std::vector<std::string> shell = {};  ///< what a person gets at a terminal
  /// Of an image: what its builder puts before every command. For whoever runs commands as a
  /// container engine does; code and programs that are named run without it.
  std::vector<std::string> entrypoint = {};
  sandbox::Limits limits = {};  ///< of a run that asks for nothing else
  Room room = {};
  std::optional<Asked> asked = {};
  /// Interpreters that a server keeps ready, and what they have loaded; unset: as usual.
  std::optional<std::uint64_t> warm = {};
  std::vector<std::string> preload = {};
  /// Directories of `contents`, by where they are inside, of which a run that asks for it gets a
  /// copy of its own to write to.
  std::vector<std::string> copied = {};
  std::vector<std::string> notes = {};  ///< for people: what is missing but not needed
  /// Of one that was made from elsewhere: what it was made from ("nixpkgs#ripgrep"), and what that
  /// is pinned to.
  std::string source = {}, locked = {};
  /// While anybody has it, nothing that it is made of is removed. Shared by all copies of it.
  std::shared_ptr<const void> in_use = {};
};

}  // namespace igloo::environment
