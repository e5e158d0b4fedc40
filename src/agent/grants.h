#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace igloo::agent {

struct Box;
struct GrantPlaces;
struct GrantCaller;

/// What a box has only if somebody asks for it. All of it lies outside of the box's wall.
enum class Grant {
  kSshAgent,
  kSshKey,
  kGitHubToken,
  kGpg,
  kX11,
  kWayland,
  kAudio,
  kGpu,
  kSystemBus,
  kBrowser,
  kNix,
  kMount,
  // Only claude-sandbox has these, as it had them before.
  kGitFiles,
  kGitHubFiles,
  kSshFiles,
};

/// One of them, as the command line names it and as the summary explains it.
struct GrantRow {
  Grant grant;
  std::string_view option;  ///< "--with-ssh"; a name without dashes: no option gives it
  std::string_view shown;   ///< what the box has by it, for the agent
  std::string_view risk;    ///< what code can do with it, for the launch summary
};

/// All of them, in the order in which they are applied and shown.
std::span<const GrantRow> AllGrants();
const GrantRow& RowOf(Grant grant);

/// What somebody asks for.
struct GrantRequest {
  std::set<Grant> asked = {};
  std::set<Grant> usual = {};  ///< granted where the host has it (Box::not_granted says where not)
  std::vector<std::string> ssh_keys = {};         ///< paths
  std::vector<std::string> ssh_key_filters = {};  ///< fingerprints or comments; none: all keys
  std::vector<std::string> mounts = {};           ///< DIR, DIR:ro or DIR:rw
};

/// Adds to a composed box what was asked for, and nothing else. Reads the host, asks its agents
/// which keys they have, and writes only into the directory for that (GrantPlaces). What cannot be
/// granted is an error with the way out, or a remark where the box is useful without it.
Result<void> ApplyGrants(const GrantRequest& request, const GrantPlaces& places,
                         const GrantCaller& caller, Box& box);

}  // namespace igloo::agent
