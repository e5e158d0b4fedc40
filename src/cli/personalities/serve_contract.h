#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "config/sandbox_mcp_scan.h"

namespace igloo::cli {

class Console;

/// What a program that igloo stands in for promised to serve.
struct Contract {
  std::string server = {}, version = {};  ///< as clients are told
  config::SandboxScan sandboxes = {};     ///< the user's own; one tool each, beside igloo's
  std::function<void(std::string_view)> log = {};  ///< a line for people, on standard error
};

/// Serves a contract with one tool for each environment on standard input and output, until the
/// client goes.
Result<int> ServeContract(const Contract& contract, Console& console);

}  // namespace igloo::cli
