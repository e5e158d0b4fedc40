#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/error.h"
#include "base/log.h"
#include "cgroup/groups.h"
#include "session/driver_frames.h"
#include "session/network/connection.h"
#include "session/output.h"
#include "session/verdict.h"

namespace igloo::session {

class Checkpoint;

/// Why an interpreter is a new one, and with it all variables.
struct Loss {
  Verdict verdict = Verdict::kOk;  ///< how the last one ended
  int exit_code = 0;
};

/// One execution in a living interpreter.
struct CallResult {
  Verdict verdict = Verdict::kOk;
  int exit_code = 0;
  int signal = 0;
  CappedText output{0}, error{0};
  CappedText late_output{0}, late_error{0};  ///< what came between the last call and this one
  std::vector<Part> parts = {};
  std::optional<std::string> value = {};  ///< of a last expression
  std::optional<Loss> lost_before = {};   ///< the interpreter had to be started anew for this call
  Refusals refused = {};                  ///< by its network, since the last call
  bool lost_now = false;                  ///< it ended with this call
  bool gone = false;                      ///< and its sandbox with it
  std::int64_t wall_micros = 0;
  /// Of the interpreter, if it ended with this call.
  std::uint64_t cpu_micros = 0, peak_kib = 0;
};

struct InterpreterOptions {
  std::optional<cgroup::Lease> group = {};
  std::size_t capture_limit = 8U << 20;    ///< per stream and call
  std::uint64_t output_limit = 0;          ///< more in one call ends the interpreter; 0: never
  std::chrono::milliseconds grace{2'000};  ///< between the interrupt and the kill
  /// From the start of a sandbox to an interpreter that is ready, on a machine that is busy.
  std::chrono::milliseconds start_limit{30'000};
  /// What the first interpreter is restored from; none: igloo-init starts it. Those after it are
  /// started.
  std::shared_ptr<Checkpoint> checkpoint = {};
  std::string copier = {};  ///< igloo-copy, for copies of it
  /// What the plan's network leads to; none: nothing.
  std::shared_ptr<Connection> connection = {};
  /// Hears what igloo had to put right in a read-write project when the sandbox has ended.
  Log::Line note = {};
};

/// A sandbox whose program is an interpreter's driver: variables last from call to call, and files
/// even longer. Lives on one event loop thread; one call at a time.
class Interpreter {
 public:
  /// `plan` starts a driver, has two extra descriptors and no time limit of its own. Both outlive
  /// this.
  Interpreter(boost::asio::io_context& loop, const sandbox::Plan& plan, backend::Backend& backend,
              InterpreterOptions options);
  ~Interpreter();

  /// Starts the sandbox, and waits until the interpreter is ready. Call once, first.
  boost::asio::awaitable<Result<void>> Start();

  struct Call {
    std::string code = {};
    std::uint64_t time_ms = 30'000;  ///< then it is interrupted; 0: never
    Manner manner = Manner::kEcho;
    std::function<void(std::string_view)> heard = {};
  };
  /// Fails when the sandbox is gone or says what it may not: then there is no further call.
  boost::asio::awaitable<Result<CallResult>> Execute(Call call);

  /// Another interpreter in the same sandbox: variables go, files stay. Not while a call is under
  /// way.
  boost::asio::awaitable<Result<void>> Renew();

  /// Makes `fresh`, in which nothing was run yet, a copy of this one: the same variables, and
  /// nothing shared. Both were restored from one checkpoint. Between calls of this one; when it
  /// fails, `fresh` is good for nothing.
  boost::asio::awaitable<Result<void>> CopyTo(Interpreter& fresh);

  struct Written {
    UniqueFd file = {};           ///< a checkpoint (checkpoint/format.h)
    std::string complaints = {};  ///< about what could not be loaded, a line each
  };
  /// A checkpoint of this one, in which nothing was run yet, with these modules loaded. It is good
  /// for nothing else afterwards.
  boost::asio::awaitable<Result<Written>> WriteCheckpoint(std::vector<std::string> preload);

  /// Asks the code of the call under way to stop; kills it if it does not.
  void Interrupt();
  /// Ends everything inside, and gives its ports back at once.
  void Kill();

  bool alive() const;
  /// It is ready, and nothing was ever run in it.
  bool fresh() const;
  /// The directory that the plan hands out, or -1.
  int workspace() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the coroutines that watch its descriptors
};

}  // namespace igloo::session
