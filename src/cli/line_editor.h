#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace igloo::cli {

/// Reads lines from a person at a terminal: they can be edited, come back with the arrow keys, and
/// Tab completes them. One at a time in a process.
class LineEditor {
 public:
  /// What a line up to the cursor could go on with: whole words for the one at its end.
  struct Completion {
    std::size_t typed = 0;  ///< length of that word
    std::vector<std::string> words = {};
  };
  using Complete = std::function<Completion(std::string_view before)>;

  /// `history` is a file that lines are kept in (0600); empty: they are not kept.
  LineEditor(std::string history, Complete complete);
  ~LineEditor();

  enum class End { kLine, kInterrupted, kEndOfFile };
  struct Read {
    End end = End::kEndOfFile;
    std::string line = {};  ///< without its end
  };
  Read ReadLine(const std::string& prompt);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The longest text that all of them begin with.
std::string CommonBeginning(const std::vector<std::string>& words);

}  // namespace igloo::cli
