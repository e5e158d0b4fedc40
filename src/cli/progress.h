#pragma once

#include <string>
#include <string_view>

#include "cli/console.h"

namespace igloo::cli {

/// One line on standard error that says what is under way, while it is: on a terminal only, and
/// gone afterwards.
class Progress {
 public:
  Progress(Console& console, std::string what);
  Progress(const Progress&) = delete;
  ~Progress();

  /// The last words of whoever works.
  void Show(std::string_view line);

 private:
  Console& console_;
  std::string what_;
  bool terminal_;
};

}  // namespace igloo::cli
