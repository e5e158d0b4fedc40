#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace igloo::cli::claudebox {

/// The command line of claudebox. What it does not know itself is for the agent.
struct Options {
  bool yes = false, dry_run = false, check = false, shell = false, gc = false, help = false;
  bool with_ssh = false, list_profiles = false;
  std::vector<std::string> ssh_keys = {}, home = {}, path = {}, reach = {};
  std::optional<std::string> program = {}, profile = {}, shown_profile = {}, network = {};
  std::vector<std::string> rest = {};
  bool operator==(const Options&) const = default;
};

/// Fails only if an option of its own has no value.
Result<Options> ParseOptions(std::span<const std::string> words);

std::string Usage();

}  // namespace igloo::cli::claudebox
