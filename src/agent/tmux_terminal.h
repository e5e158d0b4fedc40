#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace igloo::agent {

/// A terminal that outlives the one it is looked at from: a tmux server of igloo's own, with a
/// socket, settings and keys of its own, in which the igloo of one box runs. Nothing of the user's
/// own tmux server or settings counts. When that igloo has ended, the terminal stays until somebody
/// has seen how. SECURITY: the socket is in a directory of mode 0700, and no box sees it.
class TmuxTerminal {
 public:
  /// Of a socket (BoxRegistry::TmuxSocketOf), whether a server is there or not. Fails if this
  /// machine has no tmux.
  static Result<TmuxTerminal> Of(const std::string& socket);

  struct Order {
    std::string box = {};                ///< its name, to be shown
    std::vector<std::string> argv = {};  ///< what runs in it
    unsigned rows = 24, columns = 80;    ///< until somebody looks at it
  };
  /// Starts the server and the program in it, with this process's directory and variables.
  Result<void> Start(const Order& order) const;

  struct State {
    enum class Kind {
      kGone,   ///< there is no server
      kRuns,   ///< the program runs
      kEnded,  ///< it has ended, and how was not told yet
    };
    Kind kind = Kind::kGone;
    int exit_code = 0;  ///< of kEnded, as a shell would say it
  };
  Result<State> Look() const;
  /// What it shows, as lines without colours.
  Result<std::string> Text() const;
  /// Shows it on this process's own terminal until the program ends or the user detaches.
  Result<void> Attach() const;
  /// Ends the server, and what still runs in it hears SIGHUP.
  Result<void> End() const;

  /// Whether this process runs in the terminal of that socket.
  static bool IsInside(const std::string& socket);

 private:
  TmuxTerminal(std::string program, std::string socket)
      : program_(std::move(program)), socket_(std::move(socket)) {}
  struct Said {
    int status = 0;
    std::string text = {}, errors = {};
  };
  struct Numbers {
    pid_t server = 0, program = 0;
  };
  Numbers Processes() const;
  /// Carries out commands of tmux and reads what they print.
  Result<Said> Ask(std::vector<std::string> words) const;

  std::string program_, socket_;
};

}  // namespace igloo::agent
