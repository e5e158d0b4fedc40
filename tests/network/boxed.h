#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "world.h"

namespace igloo::testing {

/// `igloo words...` outside, with the Internet's name servers and authority. As an ordinary user
/// also where the tests' own namespaces make them look like root. All have one state directory.
Invocation OutsideInvocation(std::vector<std::string> words,
                             std::vector<std::string> variables = {});
/// A configuration with an environment 'web' that reaches example.com.
std::string WebConfiguration();

/// `igloo run words...` there.
Invocation BoxedInvocation(std::vector<std::string> words, std::vector<std::string> variables = {});
Outcome Boxed(std::vector<std::string> words, std::string input = {},
              std::vector<std::string> variables = {});

/// The process below `pid` with this name; -1: there is none.
pid_t ChildNamed(pid_t pid, const std::string& name);

}  // namespace igloo::testing
