#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/policy.h"

namespace igloo::environment {

/// What every environment has whatever its programs are: users and names that are invented and not
/// the host's, the harmless devices, /dev/fd and friends.
void AddBasics(std::vector<sandbox::Entry>& contents);

/// Makes the invented user of AddBasics another one.
void NameUser(std::vector<sandbox::Entry>& contents, std::string_view name, std::string_view home);

/// A file or directory of the host, read-only and at the same path unless `target` says otherwise.
/// `within`: see sandbox::HostTree.
void AddTree(std::vector<sandbox::Entry>& contents, std::string_view source,
             sandbox::Presence presence, std::string_view target = {},
             std::string_view within = {});

}  // namespace igloo::environment
