#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "audit/journal.h"
#include "base/error.h"

namespace igloo::audit {

/// The file of what boxes did with the keys behind their grants, beside that of calls.
inline constexpr std::string_view kGrantFile = "grants.jsonl";

/// One use of a grant: a signature, or something that was refused. Text is for people.
struct GrantUse {
  Time time = {};
  std::string box = {};
  std::string grant = {};  ///< its option: "--with-ssh"
  std::string event = {};  ///< "signed" or "refused"
  std::string what = {};   ///< the key, or what was asked for
  bool operator==(const GrantUse&) const = default;
};

/// A use as one line of JSON with its newline. Text is made printable and cut to a bound.
std::string EncodeGrantUse(const GrantUse& use);
/// Reads such a line, with or without its newline. Fields that it does not know are fine.
Result<GrantUse> DecodeGrantUse(std::string_view line);

/// Writes down what one box does with its grants. A log that cannot be written ends nothing:
/// whoever made it is told once.
class GrantLog {
 public:
  using Say = std::function<void(const Error&)>;

  /// `options` say where; their `file` is set here.
  GrantLog(JournalOptions options, Say say);

  /// SECURITY: a box may ask for what is refused as often as it likes. So that it cannot push
  /// signatures out of the log, only its first refusals are written down.
  void Add(const GrantUse& use);

  static constexpr unsigned kMostRefusals = 200;

 private:
  Journal journal_;
  Say say_;
  unsigned refusals_ = 0;
  bool said_ = false;
};

}  // namespace igloo::audit
