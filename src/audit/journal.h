#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "audit/record.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::audit {

/// Whether the code itself is written down, or only its digest.
enum class KeepCode { kNo, kYes };

/// No journal has more old files than this; readers look for as many.
inline constexpr unsigned kMostKept = 99;

/// The file of calls.
inline constexpr std::string_view kCallsFile = "runs.jsonl";

/// The newest file of a journal in `directory`; older ones have ".1", ".2"... behind their name.
std::string JournalFile(const std::string& directory, unsigned age = 0,
                        std::string_view file = kCallsFile);

struct JournalOptions {
  std::string directory = {};  ///< empty: there is no place for it, and every Write says so
  std::string file = std::string(kCallsFile);
  std::uint64_t rotate_bytes = 16U << 20;
  unsigned keep = 4;  ///< old files, 1 to kMostKept
  KeepCode code = KeepCode::kNo;
};

/// Where records are appended, by any number of processes at once. Nothing is made or opened before
/// the first record: a server that was only asked what it can do leaves no trace. A record is
/// written with one call and not synced: it survives the end of igloo, not that of the machine.
/// Lives on one thread; never waits for another process.
class Journal {
 public:
  explicit Journal(JournalOptions options);

  /// Fails when the record could not be written, or the files not be renamed; the next call tries
  /// again. Whoever calls says so once and goes on: a full disk ends no run.
  Result<void> Write(Record record);
  /// The same for a line of another kind; its newline is its end.
  Result<void> WriteLine(std::string line);

 private:
  Result<void> Open();
  /// Opens what is at the file's name now, unless it is what is open.
  Result<void> Follow();
  /// Gives the files the next older name, unless another process is doing it.
  Result<void> Rotate();
  Result<void> Append(std::string line);

  JournalOptions options_;
  std::string path_;
  UniqueFd file_ = {};
};

}  // namespace igloo::audit
