#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace igloo::agent {

/// A tree of the host that a program needs, and why.
struct ProgramTree {
  std::string path = {};  ///< real: no link is in it
  std::string reason = {};
  bool operator==(const ProgramTree&) const = default;
};

/// A name that leads to a program, as the host has it.
struct ProgramLink {
  std::string path = {}, points_to = {};
  bool operator==(const ProgramLink&) const = default;
};

/// A program of the host's as a box runs it.
struct ResolvedProgram {
  std::string path = {};                           ///< real
  std::vector<ProgramTree> trees = {};             ///< none: the environment has it all
  std::vector<ProgramLink> links = {};             ///< names on PATH that lie outside of these
  std::vector<std::string> path_directories = {};  ///< of PATH inside, before the environment's
};

/// Adds what another program needs to what one needs.
void AddNeeds(const ResolvedProgram& more, ResolvedProgram& program);

/// What can be asked about the host's files. Tests bring their own.
struct HostFiles {
  /// The path behind all links; empty: it is not there.
  std::function<std::string(const std::string& path)> real_path;
  std::function<bool(const std::string& path)> is_directory;
  std::function<bool(const std::string& path)> is_executable;
  /// The first bytes of a file.
  std::function<std::string(const std::string& path)> head;
};
/// The host's own.
HostFiles TheHost();

/// Where the caller's programs are, and what a box has anyway.
struct ProgramSearch {
  std::string path = {};  ///< the caller's PATH
  std::string home = {};  ///< real
  /// Trees that the environment shows at their own paths ("/usr").
  std::vector<std::string> shown = {};
};

/// Finds `name` (a name on PATH, or a path) and what of the host it runs from: its own installed
/// tree and those of its interpreter, as small as can be: an npm package with its prefix, a Node
/// of nvm, a Python environment, a directory below ~/.local/share, or else the file alone. Fails
/// with `install` as the advice when there is none.
Result<ResolvedProgram> ResolveProgram(std::string_view name, const ProgramSearch& search,
                                       std::string_view install, const HostFiles& host);

}  // namespace igloo::agent
