#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace igloo::editor {

/// Reads lines from a person at a terminal.
class LineReader {
 public:
  virtual ~LineReader() = default;

  enum class End { kLine, kInterrupted, kEndOfFile };
  struct Read {
    End end = End::kEndOfFile;
    std::string line = {};  ///< without its end
  };
  virtual Read ReadLine(const std::string& prompt) = 0;
};

/// What a line up to the cursor could go on with: whole words for the one at its end.
struct Completion {
  std::size_t typed = 0;  ///< length of that word
  std::vector<std::string> words = {};
};

/// How a reader is made: a file that lines are kept in (0600; empty: they are not kept), and who
/// completes them.
using MakeLineReader = std::function<std::unique_ptr<LineReader>(
    std::string history, std::function<Completion(std::string_view before)> complete)>;

}  // namespace igloo::editor
