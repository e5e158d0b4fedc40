#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>

#include "service/runner.h"
#include "service/setup.h"
#include "session/interpreter.h"

namespace igloo::service {

/// Who lives in a session: an interpreter, or in tests somebody who stands in for one. All of it as
/// session::Interpreter has it.
class SessionInterpreter {
 public:
  virtual ~SessionInterpreter() = default;

  /// How decisions about its network call it; before Start.
  virtual void Name(const std::string& session) = 0;
  virtual boost::asio::awaitable<Result<void>> Start() = 0;
  virtual boost::asio::awaitable<Result<session::CallResult>> Execute(
      session::Interpreter::Call call) = 0;
  virtual boost::asio::awaitable<Result<void>> Renew() = 0;
  /// Another one, yet to be started, that this one can be copied to.
  virtual Result<std::unique_ptr<SessionInterpreter>> Sibling() = 0;
  /// Makes a sibling in which nothing was run yet a copy of this one: files, then variables.
  /// Between calls of this one.
  virtual boost::asio::awaitable<Result<void>> CopyTo(SessionInterpreter& sibling) = 0;
  virtual void Interrupt() = 0;
  virtual void Kill() = 0;
  virtual int workspace() const = 0;
  virtual std::uint64_t memory_limit_bytes() const = 0;
};

/// Makes interpreters for orders whose code is a driver; they are not started yet.
using OpenSessionInterpreter =
    std::function<Result<std::unique_ptr<SessionInterpreter>>(const Order&)>;

/// Real ones. The runner outlives them.
OpenSessionInterpreter SessionInterpretersOf(Runner& runner);

}  // namespace igloo::service
