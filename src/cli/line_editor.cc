#include "cli/line_editor.h"

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

#include "base/text.h"
#include "base/unique_fd.h"
#include "cli/signals.h"

namespace igloo::cli {
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

}  // namespace

struct LineEditor::State {
  State(std::string kept, Complete how) : history_file(std::move(kept)), complete(std::move(how)) {}

  static State& Of(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<State*>(data);
  }
  static char* Prompt(EditLine* editor) { return Of(editor).prompt.data(); }
  /// The editor's own way would wait on when Ctrl-C comes.
  static int ReadKey(EditLine* editor, wchar_t* key) { return Of(editor).ReadKey(*key); }
  static unsigned char OnTab(EditLine* editor, int) { return Of(editor).CompleteLine(); }

  void Open();
  int ReadKey(wchar_t& key);
  void Save();
  unsigned char CompleteLine();
  void Show(const std::vector<std::string>& words);

  KeyByKey terminal = {};  ///< before the editor, which takes it for the usual
  std::string history_file;
  Complete complete;
  std::string prompt = {};
  EditLine* editor = nullptr;
  History* history = nullptr;
  bool interrupted = false;
};

void LineEditor::State::Open() {
  // Characters beyond ASCII: the locale of the terminal, and of nothing else.
  std::setlocale(LC_CTYPE, "");
  editor = el_init("igloo", stdin, stdout, stderr);
  history = history_init();
  if (editor == nullptr || history == nullptr) return;
  HistEvent event{};
  ::history(history, &event, H_SETSIZE, kKeptLines);
  ::history(history, &event, H_SETUNIQUE, 1);
  if (!history_file.empty()) ::history(history, &event, H_LOAD, history_file.c_str());
  // What it sets between two lines: as KeyByKey has it.
  el_set(editor, EL_SETTY, "-x", "-icanon", "-echo", nullptr);
  el_set(editor, EL_CLIENTDATA, this);
  el_set(editor, EL_GETCFN, static_cast<int (*)(EditLine*, wchar_t*)>(&State::ReadKey));
  el_set(editor, EL_PROMPT, &State::Prompt);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_HIST, &::history, history);
  el_set(editor, EL_ADDFN, "igloo-complete", "complete the word", &State::OnTab);
  el_set(editor, EL_BIND, "^I", "igloo-complete", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
}

int LineEditor::State::ReadKey(wchar_t& key) {
  std::mbstate_t state = {};
  for (;;) {
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    sigdelset(&mask, SIGINT);
    pollfd watched{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int ready = ::ppoll(&watched, 1, nullptr, &mask);
    interrupted = interrupted || TakeInterrupt();
    if (interrupted) return -1;
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

void LineEditor::State::Save() {
  if (history == nullptr || history_file.empty()) return;
  HistEvent event{};
  const File file = OpenPrivate(history_file);
  if (file != nullptr) ::history(history, &event, H_SAVE_FP, file.get());
}

void LineEditor::State::Show(const std::vector<std::string>& words) {
  std::string text = "\n";
  for (std::size_t i = 0; i < std::min(words.size(), kShown); ++i) {
    text += Printable(words[i]) + "  ";
  }
  if (words.size() > kShown) text += fmt::format("... and {} more", words.size() - kShown);
  text += "\n";
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

unsigned char LineEditor::State::CompleteLine() {
  const LineInfo* line = el_line(editor);
  const std::string_view before(line->buffer,
                                static_cast<std::size_t>(line->cursor - line->buffer));
  const bool indents = before.find_first_not_of(" \t") == std::string_view::npos;
  if (indents) return el_insertstr(editor, "    ") == 0 ? CC_REFRESH : CC_ERROR;
  const Completion found = complete(before);
  if (found.words.empty()) return CC_REFRESH_BEEP;
  const std::string common = CommonBeginning(found.words);
  if (common.size() > found.typed) {
    return el_insertstr(editor, common.substr(found.typed).c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }
  if (found.words.size() == 1) return CC_REFRESH;
  Show(found.words);
  return CC_REDISPLAY;
}

LineEditor::LineEditor(std::string history, Complete complete)
    : state_(std::make_unique<State>(std::move(history), std::move(complete))) {
  state_->Open();
}

LineEditor::~LineEditor() {
  state_->Save();
  // The terminal comes last, when nobody changes it any more.
  if (state_->editor != nullptr) el_end(state_->editor);
  if (state_->history != nullptr) history_end(state_->history);
}

LineEditor::Read LineEditor::ReadLine(const std::string& prompt) {
  if (state_->editor == nullptr) return {};
  const CatchInterrupts catching;
  state_->interrupted = false;
  state_->prompt = prompt;
  int length = 0;
  const char* line = el_gets(state_->editor, &length);
  if (state_->interrupted) {
    el_reset(state_->editor);
    return {.end = End::kInterrupted};
  }
  if (line == nullptr || length <= 0) return {.end = End::kEndOfFile};
  std::string text(line, static_cast<std::size_t>(length));
  HistEvent event{};
  if (text.find_first_not_of(" \t\r\n") != std::string::npos) {
    ::history(state_->history, &event, H_ENTER, text.c_str());
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return {.end = End::kLine, .line = std::move(text)};
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

}  // namespace igloo::cli
