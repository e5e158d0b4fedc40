#include "session/network/refusals.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace igloo::session {

namespace {

constexpr std::size_t kMostPlaces = 32;
/// For the sentence that says how many there are besides.
constexpr std::size_t kLastSentence = 512;

}  // namespace

std::string ToText(const Refusal& refusal) {
  if (refusal.kind == Refusal::Kind::kWarned) {
    const std::string times =
        refusal.times > 1 ? " (" + std::to_string(refusal.times) + " times)" : "";
    return Printable(refusal.place) + ": " + Printable(refusal.reason) + times;
  }
  std::string text =
      refusal.place.empty() ? "the network is closed" : Printable(refusal.place) + " was refused";
  if (refusal.times > 1) text += " " + std::to_string(refusal.times) + " times";
  return text + ": " + Printable(refusal.reason);
}

void Refusals::Add(Refusal refusal) {
  const auto same = std::ranges::find_if(list, [&](const Refusal& each) {
    return each.place == refusal.place && each.reason == refusal.reason;
  });
  if (same != list.end()) {
    same->times += refusal.times;
  } else if (list.size() < kMostPlaces) {
    list.push_back(std::move(refusal));
  } else {
    more += refusal.times;
  }
}

std::vector<std::string> Sentences(const Refusals& refusals, const Remedy& remedy) {
  std::vector<std::string> sentences;
  std::size_t room = kMostRefusalText - kLastSentence;
  std::uint64_t more = refusals.more;
  for (const Refusal& each : refusals.list) {
    std::string text = ToText(each) + remedy(each);
    if (text.size() > room) {
      more += each.times;
      continue;
    }
    room -= text.size();
    sentences.push_back(std::move(text));
  }
  if (more == 0) return sentences;
  const std::string all = "igloo net log --refused";
  const std::string one =
      all + " --sandbox " + ShellQuote(Printable(refusals.list.front().sandbox));
  const std::string begin = "and " + std::to_string(more) + " more: ";
  sentences.push_back(begin + (begin.size() + one.size() <= kLastSentence ? one : all));
  return sentences;
}

}  // namespace igloo::session
