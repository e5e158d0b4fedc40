#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "environment/environment.h"

namespace igloo::environment {

/// One environment that the host's /usr can offer: what it needs and how code is started.
struct HostEnvironment {
  std::string_view name;
  std::string_view description;
  std::string_view program;  ///< must exist for the environment to be offered
  std::string_view package;  ///< the Debian package that has it
  std::string_view code_file;
  std::span<const std::string_view> options;
};

std::span<const HostEnvironment> HostEnvironments();

/// How the host's root looks: which of /bin, /lib, ... are links into /usr. Gathered by the caller
/// of Make so that the provider itself stays testable.
struct HostLayout {
  struct Top {
    std::string path;     ///< "/bin"
    std::string link_to;  ///< "usr/bin", or empty for a directory of its own
  };
  std::vector<Top> tops = {};
};
HostLayout ReadHostLayout();

/// The environment `name` from the host's /usr, read-only and nothing else.
/// Fails with a hint when the name is unknown or its program is not installed.
Result<Environment> MakeHostEnvironment(std::string_view name, const HostLayout& layout);

}  // namespace igloo::environment
