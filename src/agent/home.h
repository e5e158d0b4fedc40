#pragma once

#include <string>
#include <vector>

#include "agent/box.h"
#include "agent/state/guarded.h"
#include "agent/state/write_back.h"

namespace igloo::agent {

/// Where an agent keeps the conversations of one project, apart from those of all others.
struct History {
  std::string path = {};    ///< below the home directory, as the agent knows it
  std::string source = {};  ///< the directory on the host that is shown there; empty: none yet
  UniqueFd lock = {};       ///< as long as a box shows it, it is not collected
};

/// A directory below `histories` for the conversations of a project, which the work trees of one
/// repository share. A new one begins with what the user's own has of this project.
Result<History> OpenHistory(const Profile& profile, const std::string& histories,
                            const std::string& home, const std::string& project);

/// Where all boxes of one project have what an agent keeps of its sessions (Handing::kOfProject), a
/// directory below `sessions`. Held like a history.
Result<History> OpenSessions(const AgentFiles& files, const std::string& sessions,
                             const std::string& project);

/// The directories of an agent that its boxes of a project share, or see read-only. `sessions`: the
/// directory that OpenSessions opened.
std::vector<Mount> MountsOfState(const AgentFiles& files, const BoxOrder& order,
                                 const std::string& home, const std::string& sessions,
                                 const std::optional<History>& history);

/// Puts into `directory`, which becomes the home of a box, what igloo itself has for it: git's
/// configuration, names of programs, and a place for each mount; and into the box's own trees the
/// same, as far as it lies in them. Nothing of the box runs yet.
Result<void> FillHome(const std::string& directory, const Box& box);

}  // namespace igloo::agent
