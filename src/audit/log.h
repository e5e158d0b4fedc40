#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "audit/journal.h"
#include "audit/record.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::audit {

/// Lines that are not records: damaged, cut off, or somebody else's. They stop nobody from reading
/// the rest.
struct Broken {
  std::uint64_t count = 0;
  std::string example = {};  ///< where one of them is, and what is wrong with it

  void Add(const std::string& place, const std::string& reason);
};

/// The files of a journal as they were when it was opened, whatever becomes of their names: a
/// reader sees every record once, and no line is held in memory before it is wanted.
class Log {
 public:
  /// Whether somebody wants a line; an error says why it is no record.
  using Wanted = std::function<Result<bool>(const std::string& line)>;

  /// Where a record stands.
  struct Place {
    std::size_t file = 0;
    off_t offset = 0;
    std::size_t size = 0;
  };
  struct Query {
    std::size_t limit = 20;
    /// No file that was written for the last time before that is looked at. When each line was
    /// written is for `wanted` to know.
    Time since = Time::min();
    Wanted wanted = {};
  };

  /// A journal that has never been written is an empty log.
  static Result<Log> Open(const std::string& directory, std::string_view file = kCallsFile);

  bool empty() const { return files_.empty(); }

  /// The last records that the query wants, the newest last. Reads from the end.
  Result<std::vector<Place>> FindLast(const Query& query, Broken& broken) const;

  /// The line of a place, without its newline.
  Result<std::string> Line(const Place& place) const;

 private:
  friend class LogTail;
  struct File {
    std::string path = {};
    UniqueFd fd = {};
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    Time written = {};  ///< for the last time
  };
  std::string file_ = {};         ///< the name of the newest
  std::vector<File> files_ = {};  ///< the newest first
};

/// What is appended after it was made, over as many rotations as there are meanwhile.
class LogTail {
 public:
  /// Goes on where `log` ends; `directory` is where it was opened.
  LogTail(std::string directory, Log log);

  /// False: no more; an error says why the line is no record.
  using Sink = Log::Wanted;
  /// Gives every new line to `sink`, oldest first, until that says false. True: go on.
  Result<bool> Read(const Sink& sink, Broken& broken);

 private:
  Result<bool> ReadFile(const Log::File& file, off_t& offset, const Sink& sink, Broken& broken);

  std::string directory_;
  Log log_;
  std::vector<off_t> offsets_;  ///< of the files of log_
};

}  // namespace igloo::audit
