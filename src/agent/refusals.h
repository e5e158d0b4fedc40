#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace igloo::agent {

enum class RefusalKind : std::uint8_t {
  kNetwork,  ///< a place that could not be reached
  kCall,     ///< a system call that the filter refused
  kGrant,    ///< more of a grant's socket than that gives
  kHidden,   ///< a file of the project that is hidden
  kWrite,    ///< a write outside of what can be written to
  kRead,     ///< a file that cannot be read
  kMissing,  ///< a path of the host's that the box does not show
};
std::string_view ToText(RefusalKind kind);  ///< "network", "call", ...

/// Something that the wall refused to a box, once or often. Code in the box chose most of the text.
struct Refusal {
  RefusalKind kind = RefusalKind::kNetwork;
  std::string what = {};     ///< "example.com:443", "ptrace", a path
  std::string program = {};  ///< the path of its file; empty: unknown
  std::string reason = {};   ///< why, if that is not plain from the kind
  std::string remedy = {};   ///< what would allow it, or that nothing does; a sentence
  std::uint64_t count = 1;
  std::int64_t first = 0, last = 0;  ///< seconds since 1970
  bool operator==(const Refusal&) const = default;
};

/// Refusals of one box, each once. SECURITY: code decides how many there are, so each kind has room
/// for a number of them alone; the others are only counted, and text is cut.
class RefusalList {
 public:
  static constexpr std::size_t kMostOfKind = 64, kMostText = 1024;

  /// Counts it, together with an equal one.
  void Add(Refusal refusal);
  /// The same, where `count` is that of all so far.
  void AddTotal(Refusal refusal);

  const std::vector<Refusal>& rows() const { return rows_; }
  std::uint64_t more() const { return more_; }  ///< that had no room
  bool empty() const { return rows_.empty() && more_ == 0; }
  bool operator==(const RefusalList&) const = default;

 private:
  friend struct BoxRefusals;
  Refusal* Place(Refusal& refusal);
  std::vector<Refusal> rows_ = {};
  std::uint64_t more_ = 0;
};

/// What a box was refused, from its start on.
struct BoxRefusals {
  std::string box = {}, agent = {}, project = {};
  std::int64_t started = 0;
  std::int64_t ended = 0;  ///< 0: it has not, or its igloo was killed
  bool calls = true;       ///< refused system calls can be seen
  bool files = false;      ///< files were watched
  RefusalList list = {};

  std::string Encode() const;
  static Result<BoxRefusals> Decode(std::string_view text);
  bool operator==(const BoxRefusals&) const = default;
};

/// Where they are kept, also after the end: a file for each name of a box.
class RefusalStore {
 public:
  /// `directory`: .../igloo/refusals. Made if it is missing.
  static Result<RefusalStore> Open(const std::string& directory);

  /// Takes the place of what an earlier box of that name has left. Only the newest are kept.
  Result<void> Write(const BoxRefusals& refusals) const;
  /// Of the last box of this name. Fails with the names that there are.
  Result<BoxRefusals> Find(std::string_view box) const;
  /// All of them, the last started first.
  std::vector<BoxRefusals> All() const;

  static constexpr std::size_t kMostBoxes = 64;

 private:
  explicit RefusalStore(std::string directory) : directory_(std::move(directory)) {}
  std::string directory_;
};

}  // namespace igloo::agent
