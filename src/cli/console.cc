#include "cli/console.h"

#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/text.h"

namespace igloo::cli {

Console::Console(int out_fd, int err_fd)
    : out_fd_(out_fd),
      err_fd_(err_fd),
      out_is_terminal_(::isatty(out_fd) == 1),
      colours_(out_is_terminal_ && std::getenv("NO_COLOR") == nullptr) {}

bool Console::Write(int fd, std::string_view text) { return WriteAll(fd, text).has_value(); }

void Console::Report(const Error& error) {
  std::string text = "igloo: " + Printable(error.what, Newlines::kKeep) + "\n";
  if (!error.hint.empty()) text += "  hint: " + Printable(error.hint, Newlines::kKeep) + "\n";
  Err(text);
}

void Console::Note(std::string_view text) { Err("igloo: " + std::string(text) + "\n"); }

std::string Console::Paint(Tone tone, std::string_view text) const {
  if (!colours_) return std::string(text);
  const char* code = nullptr;
  switch (tone) {
    case Tone::kGood:
      code = "32";
      break;
    case Tone::kBad:
      code = "31";
      break;
    case Tone::kWarn:
      code = "33";
      break;
    case Tone::kDim:
      code = "2";
      break;
    case Tone::kBold:
      code = "1";
      break;
  }
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace igloo::cli
