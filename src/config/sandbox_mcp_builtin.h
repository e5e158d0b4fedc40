#pragma once

#include <span>

#include "config/sandbox_mcp.h"

namespace igloo::config {

/// The sandboxes that sandbox-mcp has always come with, in the order in which they are listed.
std::span<const SandboxSpec> BuiltinSandboxes();

/// The least with which an environment's programs get anywhere at all: the memory that a compiler
/// needs before it has seen any code. Empty: what the file says is enough.
SandboxSpec::Resources LeastResources(std::string_view environment);

}  // namespace igloo::config
