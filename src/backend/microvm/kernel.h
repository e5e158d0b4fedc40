#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace igloo::backend::microvm {

/// A kernel of the host's that machines start with, and where its modules lie.
struct Kernel {
  std::string image = {};
  std::string release = {};
  std::string modules = {};  ///< the directory of its modules
  bool operator==(const Kernel&) const = default;
};

/// The kernel that is configured, or the newest one of the host's that has what a machine needs.
/// `boot` and `modules` are /boot and /lib/modules, but in tests.
Result<Kernel> FindKernel(const std::string& configured, const std::string& boot = "/boot",
                          const std::string& modules = "/lib/modules");

/// A module that is to be loaded, by its file.
struct Module {
  std::string name = {};
  std::string path = {};
  bool operator==(const Module&) const = default;
};

/// What a machine needs, each behind those that it needs itself. Fails for what this kernel neither
/// has as a module nor within itself.
Result<std::vector<Module>> ModulesFor(const Kernel& kernel);

/// What a module says it needs, of the text in its file.
std::vector<std::string> DependenciesOf(std::string_view module);

}  // namespace igloo::backend::microvm
