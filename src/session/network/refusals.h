#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace igloo::session {

/// Something that code wanted to reach and may not, or a place that did what the user should hear
/// of.
struct Refusal {
  enum class Kind : std::uint8_t { kRefused, kWarned } kind = Kind::kRefused;
  std::string sandbox = {};  ///< its name
  std::string place = {};    ///< host and port
  std::string reason = {};   ///< why not, or what the place did
  std::string rule = {};     ///< the one that would allow it; empty: none does
  std::uint64_t times = 1;
  bool operator==(const Refusal&) const = default;
};
/// What was refused and why, in words for everybody; what can be done about it is said by whoever
/// knows who reads it.
std::string ToText(const Refusal& refusal);

/// What was refused to one sandbox: the first places, each once, and how much there was besides.
struct Refusals {
  std::vector<Refusal> list = {};
  std::uint64_t more = 0;  ///< that are not in the list, which has its most then

  void Add(Refusal refusal);
  bool empty() const { return list.empty(); }
  bool operator==(const Refusals&) const = default;
};

/// What can be done about one, as the end of its sentence; empty: nothing.
using Remedy = std::function<std::string(const Refusal&)>;
inline constexpr std::size_t kMostRefusalText = 4096;
/// A sentence about each, in kMostRefusalText bytes together at most: code chooses many of the
/// words, and who reads them has to read everything else, too. The last one says how many are not
/// among them, and where they are.
std::vector<std::string> Sentences(const Refusals& refusals, const Remedy& remedy);

}  // namespace igloo::session
