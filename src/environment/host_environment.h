#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace igloo::environment {

/// A program of the host and the Debian package that has it.
struct HostProgram {
  std::string_view path = {};
  std::string_view package = {};
};

struct HostVariable {
  std::string_view name = {};
  std::string_view value = {};
};

/// One environment that the host's /usr can offer: what it needs and how code is started. Data;
/// each has a file of its own in host/.
struct HostEnvironment {
  std::string_view name = {};
  std::span<const std::string_view> aliases = {};
  std::string_view description = {};
  std::span<const HostProgram> needs = {};   ///< all must exist for the environment to be offered
  std::span<const HostProgram> extras = {};  ///< nice to have; the details name what is missing
  std::string_view language = {};            ///< a name in language::All: names the code's file
  std::span<const std::string_view> start = {};  ///< the path of the code's file goes behind it
  std::span<const HostVariable> variables = {};
  std::uint64_t seconds = 30;
  std::uint64_t memory_mb = 512;
  std::uint64_t processes = 256;
};

}  // namespace igloo::environment
