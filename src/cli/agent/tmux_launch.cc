#include "cli/agent/tmux_launch.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "agent/tmux_terminal.h"
#include "base/text.h"
#include "cli/agent/launch.h"

namespace igloo::cli {
namespace {

using agent::TmuxTerminal;
using Kind = TmuxTerminal::State::Kind;

/// For a box to come up: an environment may have to be built first.
constexpr auto kStartLimit = std::chrono::seconds(60);
constexpr auto kLook = std::chrono::milliseconds(20);

/// A name that is free at this moment: the box enters the registry by itself, and fails if somebody
/// was faster.
Result<std::string> FreeName(const agent::BoxRegistry& boxes, const TmuxLaunch& launch) {
  IGLOO_ASSIGN(const agent::BoxRegistry::Place place,
               boxes.Enter({.name = launch.name}, launch.how));
  return place.name();
}

/// What the terminal of a box shows that has ended, and its exit code. It is gone then.
Result<int> TellEnd(const TmuxTerminal& terminal, const std::string& name, int exit_code,
                    Console& console) {
  IGLOO_ASSIGN(const std::string text, terminal.Text());
  console.Out(text);
  console.Note("box '" + name + "' has ended with exit code " + std::to_string(exit_code));
  IGLOO_TRY(terminal.End());
  return exit_code;
}

Result<int> Show(const TmuxTerminal& terminal, const std::string& name, Console& console) {
  IGLOO_TRY(terminal.Attach());
  IGLOO_ASSIGN(const TmuxTerminal::State state, terminal.Look());
  switch (state.kind) {
    case Kind::kEnded:
      return TellEnd(terminal, name, state.exit_code, console);
    case Kind::kRuns:
      console.Note("box '" + name + "' goes on: igloo agent attach " + name);
      return 0;
    case Kind::kGone:
      break;
  }
  return Fail(Errc::kFailedPrecondition,
              "the terminal of box '" + name + "' was ended, and the box with it",
              "'igloo agent list' shows what runs");
}

/// Until the box is there, or its end.
Result<int> AwaitStart(const agent::BoxRegistry& boxes, const TmuxTerminal& terminal,
                       const std::string& name, Console& console) {
  const auto until = std::chrono::steady_clock::now() + kStartLimit;
  const char* verb = "starts";
  while (std::chrono::steady_clock::now() < until) {
    IGLOO_ASSIGN(const TmuxTerminal::State state, terminal.Look());
    if (state.kind == Kind::kEnded) return TellEnd(terminal, name, state.exit_code, console);
    if (state.kind == Kind::kGone) {
      return Fail(Errc::kFailedPrecondition, "the terminal of box '" + name + "' was ended");
    }
    if (boxes.Find(name)) {
      verb = "runs";
      break;
    }
    std::this_thread::sleep_for(kLook);
  }
  console.Out("box '" + name + "' " + verb + " in the background: igloo agent attach " + name +
              "\n");
  return 0;
}

}  // namespace

Result<int> StartInTmux(const TmuxLaunch& launch, Console& console) {
  if (launch.show && !HasTerminal()) {
    return Fail(Errc::kFailedPrecondition, "'--tmux' needs a terminal on standard input and output",
                "with --background the box starts without one");
  }
  IGLOO_ASSIGN(const agent::BoxRegistry boxes, OpenBoxes());
  // First: without it nothing is to be done.
  IGLOO_TRY(TmuxTerminal::Of(boxes.TmuxSocketOf(launch.name)));
  IGLOO_ASSIGN(const std::string name, FreeName(boxes, launch));
  IGLOO_ASSIGN(const TmuxTerminal terminal, TmuxTerminal::Of(boxes.TmuxSocketOf(name)));
  TmuxTerminal::Order order{.box = name, .argv = launch.command(name)};
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 && size.ws_col > 0) {
    order.rows = size.ws_row;
    order.columns = size.ws_col;
  }
  IGLOO_TRY(terminal.Start(order));
  return launch.show ? Show(terminal, name, console) : AwaitStart(boxes, terminal, name, console);
}

Result<int> AttachToBox(const std::string& name, Console& console) {
  IGLOO_TRY(agent::CheckBoxName(name));
  IGLOO_ASSIGN(const agent::BoxRegistry boxes, OpenBoxes());
  const auto box = boxes.Find(name);
  if (box && !box->in_tmux) {
    return Fail(Errc::kFailedPrecondition,
                "box '" + name + "' has the terminal that it was started from",
                "boxes that are started with --tmux can be attached to; 'igloo agent enter " +
                    name + "' starts a shell in this one");
  }
  if (box && box->paused) {
    return Fail(Errc::kFailedPrecondition, "box '" + name + "' is paused",
                "first: igloo agent resume " + name);
  }
  IGLOO_ASSIGN(const TmuxTerminal terminal, TmuxTerminal::Of(boxes.TmuxSocketOf(name)));
  IGLOO_ASSIGN(const TmuxTerminal::State state, terminal.Look());
  if (state.kind == Kind::kGone) {
    if (!box) return std::unexpected(box.error());
    return Fail(Errc::kFailedPrecondition, "the terminal of box '" + name + "' is gone",
                "end the box: igloo agent stop " + name);
  }
  if (state.kind == Kind::kEnded) return TellEnd(terminal, name, state.exit_code, console);
  if (!HasTerminal()) {
    return Fail(Errc::kFailedPrecondition,
                "'igloo agent attach' needs a terminal on standard input and output");
  }
  return Show(terminal, name, console);
}

Result<bool> ForgetEnded(const agent::BoxRegistry& boxes, const std::string& name) {
  IGLOO_TRY(agent::CheckBoxName(name));
  IGLOO_ASSIGN(const std::vector<std::string> names, boxes.TmuxNames());
  if (std::ranges::find(names, name) == names.end()) return false;
  IGLOO_ASSIGN(const TmuxTerminal terminal, TmuxTerminal::Of(boxes.TmuxSocketOf(name)));
  IGLOO_TRY(terminal.End());
  return true;
}

std::vector<EndedBox> FindEnded(const agent::BoxRegistry& boxes) {
  std::vector<EndedBox> ended;
  for (const std::string& name : boxes.TmuxNames().value_or(std::vector<std::string>())) {
    const auto terminal = TmuxTerminal::Of(boxes.TmuxSocketOf(name));
    const auto state = terminal ? terminal->Look() : Result<TmuxTerminal::State>();
    if (state && state->kind == Kind::kEnded) ended.push_back({name, state->exit_code});
  }
  return ended;
}

}  // namespace igloo::cli
