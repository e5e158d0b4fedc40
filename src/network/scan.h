#pragma once

// Looking for the values of secrets in what servers answer. A server that repeats what it was sent
// would show code the value that it must never see.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "network/secret.h"

namespace igloo::network {

/// What is looked for: each value as it is, and the part of its base64 that does not depend on its
/// neighbours, at each of the three places in a group of four that it can begin at. The proxy
/// itself makes base64 of a value for "Authorization: Basic". Made once for a sandbox; other
/// encodings (percent signs, hexadecimal, compression) are not recognised.
class SecretPatterns {
 public:
  struct Pattern {
    std::string text = {};
    std::string placeholder = {};  ///< of its secret
    std::string name = {};         ///< of its secret
    /// The longest beginning of `text` that ends at a byte of `text`: where to go on after a byte
    /// that does not fit (Knuth, Morris and Pratt), so that each byte of an answer is looked at
    /// once.
    std::vector<std::uint32_t> border = {};
  };

  SecretPatterns() = default;
  explicit SecretPatterns(const std::vector<Secret>& secrets);

  const std::vector<Pattern>& list() const { return patterns_; }
  bool empty() const { return patterns_.empty(); }

 private:
  void Add(const Secret& secret, std::string text);

  std::vector<Pattern> patterns_ = {};  ///< the longest first
};

/// One answer. INVARIANT: what it hands on never holds a whole pattern that the server sent,
/// however its bytes were cut. It holds back less than the longest pattern: only an end that could
/// be the beginning of one, so an answer that comes in pieces is not delayed.
class SecretScan {
 public:
  /// `patterns` outlive it.
  explicit SecretScan(const SecretPatterns& patterns);

  /// Puts placeholders in the place of values in a whole head.
  void CleanHead(std::string& head);
  /// Adds to `out` what can be sent of the body so far. A value is overwritten by as many stars, so
  /// that a length that was told stays true.
  void Take(std::string_view content, std::string& out);
  /// The body has ended: adds what was held back.
  void Finish(std::string& out);
  /// Names of secrets that were found since the last call; each is named once in an answer.
  std::vector<std::string> TakeFound();

 private:
  /// Follows one pattern through `content`, which is the end of `held_`, and notes where it stands.
  void Follow(std::size_t pattern, std::string_view content);

  struct Hit {
    std::size_t pattern = 0, at = 0;  ///< where it begins in `held_`
  };

  const SecretPatterns& patterns_;
  std::vector<std::size_t> matched_;  ///< how much of each pattern stands at the end of `held_`
  std::string held_ = {};
  std::vector<Hit> hits_ = {};
  std::set<std::string> found_ = {};
  std::vector<std::string> untold_ = {};
};

/// Asks the server for an answer that can be read: one that is compressed cannot be searched.
/// Nothing changes unless the request goes to the domain of one of the secrets.
void AskForPlainText(const std::vector<Secret>& secrets, RequestHead& head);
/// Whether an answer's body is encoded in a way that is not looked into.
bool IsEncoded(const ResponseHead& head);

}  // namespace igloo::network
