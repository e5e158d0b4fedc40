#include "cli/changes/choose_hunks.h"

#include <algorithm>

#include "base/text.h"
#include "cli/changes/changes_output.h"
#include "service/changes/patch.h"

namespace igloo::cli {
namespace {

using namespace service::changes;  // NOLINT(google-build-using-namespace)

enum class Answer { kYes, kNo, kAll, kNone, kQuit };

/// Asks until it is one of these.
Answer AskFor(const std::string& question, std::string_view letters, const Ask& ask,
              Console& console) {
  for (;;) {
    const auto said = ask(question);
    if (!said) return Answer::kQuit;
    const char letter = said->empty() ? '?' : (*said)[0];
    if (letters.find(letter) != std::string_view::npos) {
      switch (letter) {
        case 'y':
          return Answer::kYes;
        case 'n':
          return Answer::kNo;
        case 'a':
          return Answer::kAll;
        case 'd':
          return Answer::kNone;
        default:
          return Answer::kQuit;
      }
    }
    console.Out("y - apply this\nn - do not\n");
    if (letters.find('a') != std::string_view::npos) {
      console.Out(
          "a - apply this and the rest of the file\nd - do not, nor the rest of the file\n");
    }
    console.Out("q - stop asking, apply what was chosen\n");
  }
}

class Asking {
 public:
  Asking(const Contents& contents, const Ask& ask, Console& console)
      : contents_(contents), ask_(ask), console_(console) {}

  /// False: no more.
  Result<bool> One(const Change& change) {
    const auto hunks = HunksOf(contents_, change);
    if (hunks && !hunks->hunks.empty()) return Hunks(change, *hunks);
    const auto patch = PatchOf(contents_, change);
    console_.Out(patch && !patch->empty() && patch->size() < 20'000
                     ? PaintPatch(*patch, console_)
                     : std::string(Letter(change.kind)) + " " + ShownPath(change.path) + "\n");
    const Answer answer =
        AskFor(Protected(change) + "Apply this change [y,n,q,?]? ", "ynq", ask_, console_);
    if (answer == Answer::kYes) choice_.paths.push_back(change.path);
    return answer != Answer::kQuit;
  }

  Choice Take() { return std::move(choice_); }

 private:
  static std::string Protected(const Change& change) {
    return change.protection
               ? "'" + Printable(change.path) +
                     "' is protected: " + std::string(change.protection.reason) + ".\n"
               : "";
  }

  bool Hunks(const Change& change, const HunkList& list) {
    std::vector<bool> chosen(list.hunks.size(), false);
    console_.Out(console_.Paint(Console::Tone::kBold, ShownPath(change.path)) + "\n");
    Answer answer = Answer::kNo;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      console_.Out(PaintPatch(list.texts[i], console_));
      answer = AskFor(Protected(change) + "(" + std::to_string(i + 1) + "/" +
                          std::to_string(chosen.size()) + ") Apply this hunk [y,n,a,d,q,?]? ",
                      "ynadq", ask_, console_);
      if (answer == Answer::kYes) chosen[i] = true;
      if (answer == Answer::kAll)
        std::fill(chosen.begin() + static_cast<long>(i), chosen.end(), true);
      if (answer != Answer::kYes && answer != Answer::kNo) break;
    }
    if (std::ranges::find(chosen, true) != chosen.end()) {
      choice_.paths.push_back(change.path);
      // The whole file has its mode, too.
      const bool whole = std::ranges::find(chosen, false) == chosen.end();
      if (!whole) choice_.hunks[change.path] = std::move(chosen);
    }
    return answer != Answer::kQuit;
  }

  const Contents& contents_;
  const Ask& ask_;
  Console& console_;
  Choice choice_ = {.exact = true};
};

bool IsDirectory(const Change& change) {
  return (change.after ? change.after : change.before).value_or(Node{}).type == Type::kDirectory;
}

}  // namespace

Result<Choice> ChooseHunks(const Contents& contents, const ChangeList& list,
                           const std::vector<std::string>& paths, const Ask& ask,
                           Console& console) {
  Asking asking(contents, ask, console);
  for (const Change& change : list.changes) {
    const bool wanted = paths.empty() || std::ranges::any_of(paths, [&](const std::string& path) {
                          return LiesIn(change.path, path);
                        });
    // Directories come with what is in them.
    if (!wanted || IsDirectory(change) || !change.refused.empty()) continue;
    IGLOO_ASSIGN(const bool more, asking.One(change));
    if (!more) break;
  }
  return asking.Take();
}

}  // namespace igloo::cli
