#pragma once

#include <string>
#include <vector>

#include "mcp/types.h"
#include "service/setup.h"

namespace igloo::tools {

/// What the model is told about the server, the most important first, below the 4,000 characters
/// that clients show.
std::string Instructions(const service::Setup& setup, const std::vector<mcp::Tool>& tools);

/// The environments by name, for a sentence: "python, shell".
std::string Names(const std::vector<const service::Offered*>& environments);

/// The longest beginning of whole lines below 4,000 bytes, and how many were left out.
std::string FitToClients(const std::string& text);

}  // namespace igloo::tools
