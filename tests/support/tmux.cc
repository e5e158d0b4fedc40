#include "support/tmux.h"

namespace igloo::testing {

Tmux::Tmux(const std::vector<std::string>& words) {
  std::vector<std::string> start = {"new-session", "-d", "-s", "test", "-x",
                                    "80",          "-y", "24", "--",   "/usr/bin/env"};
  start.insert(start.end(), words.begin(), words.end());
  // No status line: the program has the whole screen.
  start.insert(start.begin(), {"start-server", ";", "set", "-g", "status", "off", ";"});
  Run(start);
}

Tmux::~Tmux() { Run({"kill-server"}); }

Outcome Tmux::Run(std::vector<std::string> words) const {
  words.insert(words.begin(), {"-u", "-f", "/dev/null", "-S", place_.path() + "/socket"});
  return RunProgram({.program = "/usr/bin/tmux", .args = std::move(words)});
}

void Tmux::Keys(const std::vector<std::string>& keys) const {
  std::vector<std::string> words = {"send-keys", "-t", "test"};
  words.insert(words.end(), keys.begin(), keys.end());
  Run(std::move(words));
}

void Tmux::Resize(int columns, int rows) const {
  Run({"resize-window", "-t", "test", "-x", std::to_string(columns), "-y", std::to_string(rows)});
}

bool Tmux::WaitFor(const std::string& text) const {
  return igloo::testing::WaitFor([&] { return Screen().contains(text); }, 30);
}

}  // namespace igloo::testing
