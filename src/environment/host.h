#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "environment/environment.h"
#include "environment/etc.h"
#include "environment/host_environment.h"

namespace igloo::environment {

/// All of them, in the order in which they are listed.
std::span<const HostEnvironment> HostEnvironments();

/// The row with this name or alias, or null.
const HostEnvironment* FindHostEnvironment(std::string_view name);

/// What the host has, gathered before anything is made of it, so that the provider stays pure.
struct HostLayout {
  struct Top {
    std::string path;     ///< "/bin"
    std::string link_to;  ///< "usr/bin", or empty for a directory of its own
  };
  std::vector<Top> tops = {};           ///< which of /bin, /lib, ... are links into /usr
  std::set<std::string> programs = {};  ///< of those that environments name, the installed ones
  std::string etc_directory = "/etc";
  std::vector<EtcPart> etc = {};  ///< what packages need of it
};

/// Looks at the host for all environments.
HostLayout ReadHostLayout();
/// Looks only at what the environment `name` asks for: a run needs no more, and each look costs.
HostLayout ReadHostLayoutFor(std::string_view name);

/// An environment from the host's /usr, read-only and nothing else.
/// Fails with what to install when a program it needs is not there.
Result<Environment> MakeHostEnvironment(const HostEnvironment& row, const HostLayout& layout);
/// The same by name or alias; an unknown name fails with the nearest known one.
Result<Environment> MakeHostEnvironment(std::string_view name, const HostLayout& layout);

}  // namespace igloo::environment
