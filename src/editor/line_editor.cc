#include "editor/line_editor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <utility>

#include "base/interrupts.h"
#include "base/text.h"

namespace igloo::editor {
namespace {

constexpr int kKeptLines = 1000;
/// More of them help nobody.
constexpr std::size_t kShown = 100;

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, CloseFile>;

/// For its owner alone from the first moment: what people type may be secret.
File OpenPrivate(const std::string& path) {
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
  const int fd = ::open(path.c_str(), flags, 0600);
  return File(fd < 0 ? nullptr : ::fdopen(fd, "w"));
}

/// The terminal as it was, for whoever ends this process.
termios g_before = {};

void RestoreAndEnd(int signal) {
  (void)::tcsetattr(STDIN_FILENO, TCSANOW, &g_before);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// Keys are passed on one by one, also between two lines: what is typed while code runs waits for
/// the next one, and a Ctrl-D that comes early is not taken by the terminal.
class KeyByKey {
 public:
  KeyByKey() {
    if (::tcgetattr(STDIN_FILENO, &g_before) != 0) return;
    termios now = g_before;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    now.c_cc[VMIN] = 1;
    now.c_cc[VTIME] = 0;
    for (const int signal : kEnding) ::signal(signal, RestoreAndEnd);
    changed_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &now) == 0;
  }
  KeyByKey(const KeyByKey&) = delete;
  KeyByKey& operator=(const KeyByKey&) = delete;
  ~KeyByKey() {
    if (changed_) (void)::tcsetattr(STDIN_FILENO, TCSADRAIN, &g_before);
    for (const int signal : kEnding) ::signal(signal, SIG_DFL);
  }

 private:
  static constexpr int kEnding[] = {SIGTERM, SIGHUP, SIGQUIT};
  bool changed_ = false;
};

using Complete = std::function<Completion(std::string_view)>;

class LineEditor : public LineReader {
 public:
  LineEditor(std::string kept, Complete complete)
      : history_file_(std::move(kept)), complete_(std::move(complete)) {
    Open();
  }
  ~LineEditor() override {
    Save();
    // The terminal comes last, when nobody changes it any more.
    if (editor_ != nullptr) el_end(editor_);
    if (history_ != nullptr) history_end(history_);
  }

  Read ReadLine(const std::string& prompt) override;

 private:
  static LineEditor& Of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<LineEditor*>(data);
  }
  static char* Prompt(EditLine* editor) { return Of(editor).prompt_.data(); }
  /// The editor's own way would wait on when Ctrl-C comes.
  static int ReadKey(EditLine* editor, wchar_t* key) { return Of(editor).ReadKey(*key); }
  static unsigned char OnTab(EditLine* editor, int) { return Of(editor).CompleteLine(); }

  void Open();
  int ReadKey(wchar_t& key);
  void Save();
  unsigned char CompleteLine();
  void Show(const std::vector<std::string>& words);

  KeyByKey terminal_ = {};  ///< before the editor, which takes it for the usual
  std::string history_file_;
  Complete complete_;
  std::string prompt_ = {};
  EditLine* editor_ = nullptr;
  History* history_ = nullptr;
  bool interrupted_ = false;
};

void LineEditor::Open() {
  // Characters beyond ASCII: the locale of the terminal, and of nothing else.
  std::setlocale(LC_CTYPE, "");
  editor_ = el_init("igloo", stdin, stdout, stderr);
  history_ = history_init();
  if (editor_ == nullptr || history_ == nullptr) return;
  HistEvent event{};
  ::history(history_, &event, H_SETSIZE, kKeptLines);
  ::history(history_, &event, H_SETUNIQUE, 1);
  if (!history_file_.empty()) ::history(history_, &event, H_LOAD, history_file_.c_str());
  // What it sets between two lines: as KeyByKey has it.
  el_set(editor_, EL_SETTY, "-x", "-icanon", "-echo", nullptr);
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(editor_, EL_GETCFN, static_cast<int (*)(EditLine*, wchar_t*)>(&LineEditor::ReadKey));
  el_set(editor_, EL_PROMPT, &LineEditor::Prompt);
  el_set(editor_, EL_EDITOR, "emacs");
  el_set(editor_, EL_HIST, &::history, history_);
  el_set(editor_, EL_ADDFN, "igloo-complete", "complete the word", &LineEditor::OnTab);
  el_set(editor_, EL_BIND, "^I", "igloo-complete", nullptr);
  el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
}

int LineEditor::ReadKey(wchar_t& key) {
  std::mbstate_t state = {};
  for (;;) {
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    sigdelset(&mask, SIGINT);
    pollfd watched{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int ready = ::ppoll(&watched, 1, nullptr, &mask);
    interrupted_ = interrupted_ || TakeInterrupt();
    if (interrupted_) return -1;
    if (ready < 0) continue;  // the window has another size
    char byte = 0;
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count <= 0) return static_cast<int>(count);
    const std::size_t used = std::mbrtowc(&key, &byte, 1, &state);
    constexpr auto kMore = static_cast<std::size_t>(-2), kWrong = static_cast<std::size_t>(-1);
    if (used == kWrong) state = {};  // no character in this locale: it is left out
    if (used != kMore && used != kWrong) return 1;
  }
}

void LineEditor::Save() {
  if (history_ == nullptr || history_file_.empty()) return;
  HistEvent event{};
  const File file = OpenPrivate(history_file_);
  if (file != nullptr) ::history(history_, &event, H_SAVE_FP, file.get());
}

void LineEditor::Show(const std::vector<std::string>& words) {
  std::string text = "\n";
  for (std::size_t i = 0; i < std::min(words.size(), kShown); ++i) {
    text += Printable(words[i]) + "  ";
  }
  if (words.size() > kShown) text += fmt::format("... and {} more", words.size() - kShown);
  text += "\n";
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

unsigned char LineEditor::CompleteLine() {
  const LineInfo* line = el_line(editor_);
  const std::string_view before(line->buffer,
                                static_cast<std::size_t>(line->cursor - line->buffer));
  const bool indents = before.find_first_not_of(" \t") == std::string_view::npos;
  if (indents) return el_insertstr(editor_, "    ") == 0 ? CC_REFRESH : CC_ERROR;
  const Completion found = complete_(before);
  if (found.words.empty()) return CC_REFRESH_BEEP;
  const std::string common = CommonBeginning(found.words);
  if (common.size() > found.typed) {
    return el_insertstr(editor_, common.substr(found.typed).c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }
  if (found.words.size() == 1) return CC_REFRESH;
  Show(found.words);
  return CC_REDISPLAY;
}

LineReader::Read LineEditor::ReadLine(const std::string& prompt) {
  if (editor_ == nullptr) return {};
  const CatchInterrupts catching;
  interrupted_ = false;
  prompt_ = prompt;
  int length = 0;
  const char* line = el_gets(editor_, &length);
  if (interrupted_) {
    el_reset(editor_);
    return {.end = End::kInterrupted};
  }
  if (line == nullptr || length <= 0) return {.end = End::kEndOfFile};
  std::string text(line, static_cast<std::size_t>(length));
  HistEvent event{};
  if (text.find_first_not_of(" \t\r\n") != std::string::npos) {
    ::history(history_, &event, H_ENTER, text.c_str());
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return {.end = End::kLine, .line = std::move(text)};
}

}  // namespace

MakeLineReader EditedLines() {
  return [](std::string history, Complete complete) -> std::unique_ptr<LineReader> {
    return std::make_unique<LineEditor>(std::move(history), std::move(complete));
  };
}

std::string CommonBeginning(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  std::string common = words.front();
  for (const std::string& each : words) {
    const auto end = std::ranges::mismatch(common, each).in1;
    common.erase(end, common.end());
  }
  // No character is cut in two.
  while (!common.empty() && !IsUtf8(common)) common.pop_back();
  return common;
}

}  // namespace igloo::editor
