#pragma once

#include <string_view>

#include "base/error.h"
#include "editor/line_reader.h"

namespace igloo::cli {

/// The only place that commands print through.
class Console {
 public:
  Console(int out_fd, int err_fd);

  /// False when nobody reads any more (a closed pipe): the command should end.
  bool Out(std::string_view text) { return Write(out_fd_, text); }
  bool Err(std::string_view text) { return Write(err_fd_, text); }
  /// "igloo: what" and, when there is advice, "  hint: ...".
  void Report(const Error& error);
  void Note(std::string_view text);

  /// How lines are read from a person; empty in programs that have no editor.
  void OfferEditor(editor::MakeLineReader make) { editor_ = std::move(make); }
  const editor::MakeLineReader& editor() const { return editor_; }

  bool out_is_terminal() const { return out_is_terminal_; }

  /// Wraps text in a colour when standard output is a terminal and NO_COLOR is not set.
  enum class Tone { kGood, kBad, kWarn, kDim, kBold };
  std::string Paint(Tone tone, std::string_view text) const;

 private:
  static bool Write(int fd, std::string_view text);
  int out_fd_, err_fd_;
  bool out_is_terminal_, colours_;
  editor::MakeLineReader editor_ = {};
};

}  // namespace igloo::cli
