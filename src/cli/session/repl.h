#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/args.h"
#include "cli/console.h"
#include "cli/session/session_servers.h"

namespace igloo::cli {

/// Whom the lines of a prompt go to: a session of a server, or one of this process.
class ReplTarget {
 public:
  virtual ~ReplTarget() = default;

  virtual const std::string& environment() const = 0;
  virtual const std::string& interpreter() const = 0;
  virtual const std::string& session() const = 0;
  /// Whether the session lives on when the prompt ends.
  virtual bool stays() const = 0;
  /// Runs code; the session is filled in. Ctrl-C meanwhile interrupts it.
  virtual Result<service::control::Ran> Run(service::control::Run request,
                                            const service::control::Heard& heard) = 0;
};

std::unique_ptr<ReplTarget> AttachTo(const FoundSession& session);
/// A session of this process, which begins with the first request.
Result<std::unique_ptr<ReplTarget>> BeginAlone(const ParsedArgs& args,
                                               const std::string& environment, Console& console);

/// A person at a prompt, or a program that writes lines, until the input ends.
Result<int> Converse(ReplTarget& partner, Console& console);

}  // namespace igloo::cli
