#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

namespace igloo::cli {
namespace {

constexpr std::string_view kClear = "\r\x1b[K";
constexpr std::size_t kUsualWidth = 80;

std::size_t Width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return kUsualWidth;
  return size.ws_col;
}

/// As many bytes as fit into the line, in whole characters.
std::string Cut(std::string text, std::size_t width) {
  if (text.size() < width) return text;
  std::size_t end = width - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text;
}

}  // namespace

Progress::Progress(Console& console, std::string what)
    : console_(console), what_(std::move(what)), terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (terminal_) console_.Err(kClear);
}

void Progress::Show(std::string_view line) {
  if (!terminal_) return;
  // SECURITY: these are the words of a build: they may hold anything.
  console_.Err(std::string(kClear) + Cut("igloo: " + what_ + ": " + Printable(line), Width()));
}

}  // namespace igloo::cli
