#include "audit/log.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>
namespace igloo::audit {
namespace {

constexpr std::size_t kBlock = 64U << 10;

/// Exactly `size` bytes; fewer only when the file has become shorter.
Result<std::string> ReadAt(int fd, off_t offset, std::size_t size, const std::string& path) {
  std::string bytes(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const ssize_t count =
        ::pread(fd, bytes.data() + have, size - have, offset + static_cast<off_t>(have));
    const int saved_errno = errno;
    if (count < 0 && saved_errno == EINTR) continue;
    if (count < 0) return FailSys(saved_errno, "cannot read '" + path + "'");
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  bytes.resize(have);
  return bytes;
}

std::string PlaceText(const std::string& path, off_t offset) {
  return "'" + path + "' at byte " + std::to_string(offset);
}

/// Looks for newlines from the end of a file to its beginning, a block at a time.
class BackwardLines {
 public:
  BackwardLines(int fd, off_t size, const std::string& path)
      : fd_(fd), path_(path), block_begin_(size), end_(size) {}

  struct Line {
    off_t offset = 0;
    off_t size = 0;     ///< without its newline
    bool whole = true;  ///< has a newline at its end
  };
  /// The line before the last one that was given; nullopt at the beginning of the file.
  Result<std::optional<Line>> Next() {
    if (end_ == 0) return std::nullopt;
    // The newline at the line's own end is not what it begins with.
    IGLOO_ASSIGN(const off_t last, FindNewline(end_));
    const bool whole = last == end_ - 1;
    off_t before = last;
    if (whole) {
      IGLOO_ASSIGN(before, FindNewline(last));
    }
    const Line line{before + 1, (whole ? last : end_) - (before + 1), whole};
    end_ = before + 1;
    return line;
  }

 private:
  /// The last newline before `end`; -1: there is none.
  Result<off_t> FindNewline(off_t end) {
    while (end > 0) {
      if (end <= block_begin_) {
        block_begin_ = std::max<off_t>(0, end - static_cast<off_t>(kBlock));
        IGLOO_ASSIGN(
            block_, ReadAt(fd_, block_begin_, static_cast<std::size_t>(end - block_begin_), path_));
      }
      const std::string_view part =
          std::string_view(block_).substr(0, static_cast<std::size_t>(end - block_begin_));
      const std::size_t at = part.rfind('\n');
      if (at != std::string_view::npos) return block_begin_ + static_cast<off_t>(at);
      end = block_begin_;
    }
    return -1;
  }

  int fd_;
  const std::string& path_;
  std::string block_ = {};
  off_t block_begin_;
  off_t end_;
};

}  // namespace

void Broken::Add(const std::string& place, const std::string& reason) {
  if (count++ == 0) example = place + ": " + reason;
}

Result<Log> Log::Open(const std::string& directory, std::string_view file) {
  Log log;
  log.file_ = file;
  // All names are tried: while files are being renamed, one of them is missing in between.
  for (unsigned age = 0; age <= kMostKept; ++age) {
    const std::string path = JournalFile(directory, age, file);
    constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    UniqueFd fd(::open(path.c_str(), kFlags));
    if (!fd) {
      const int saved_errno = errno;
      if (saved_errno == ENOENT || saved_errno == ENOTDIR) continue;
      return FailSys(saved_errno, "cannot open the audit log '" + path + "'");
    }
    struct stat info{};
    if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
      return Fail(Errc::kFailedPrecondition, "the audit log '" + path + "' is not a regular file",
                  "move it away: igloo makes a new one");
    }
    // One that got an older name since it was opened a moment ago.
    const bool known = std::ranges::any_of(log.files_, [&](const File& each) {
      return each.device == info.st_dev && each.inode == info.st_ino;
    });
    if (known) continue;
    const auto written =
        std::chrono::seconds(info.st_mtim.tv_sec) + std::chrono::nanoseconds(info.st_mtim.tv_nsec);
    log.files_.push_back({path, std::move(fd), info.st_dev, info.st_ino, info.st_size,
                          Time(std::chrono::ceil<std::chrono::milliseconds>(written))});
  }
  return log;
}

Result<std::vector<Log::Place>> Log::FindLast(const Query& query, Broken& broken) const {
  std::vector<Place> places;
  for (std::size_t i = 0; i < files_.size() && places.size() < query.limit; ++i) {
    const File& file = files_[i];
    // Calls end in another order than they began in, so only a whole file is surely too old.
    if (file.written < query.since) break;
    BackwardLines lines(file.fd.get(), file.size, file.path);
    while (places.size() < query.limit) {
      IGLOO_ASSIGN(const auto line, lines.Next());
      if (!line) break;
      if (line->size == 0) continue;
      const std::string where = PlaceText(file.path, line->offset);
      if (!line->whole || line->size > static_cast<off_t>(kMaxLine)) {
        broken.Add(where, line->whole ? "it is too long" : "it is cut off");
        continue;
      }
      const Place place{i, line->offset, static_cast<std::size_t>(line->size)};
      IGLOO_ASSIGN(const std::string text, Line(place));
      const auto wanted = query.wanted(text);
      if (!wanted) {
        broken.Add(where, wanted.error().what);
      } else if (*wanted) {
        places.push_back(place);
      }
    }
  }
  std::ranges::reverse(places);
  return places;
}

Result<std::string> Log::Line(const Place& place) const {
  const File& file = files_[place.file];
  return ReadAt(file.fd.get(), place.offset, place.size, file.path);
}

LogTail::LogTail(std::string directory, Log log)
    : directory_(std::move(directory)), log_(std::move(log)) {
  for (const Log::File& file : log_.files_) offsets_.push_back(file.size);
}

Result<bool> LogTail::Read(const Sink& sink, Broken& broken) {
  IGLOO_ASSIGN(Log now, Log::Open(directory_, log_.file_));
  std::vector<off_t> offsets(now.files_.size(), 0);
  for (std::size_t i = 0; i < now.files_.size(); ++i) {
    for (std::size_t k = 0; k < log_.files_.size(); ++k) {
      const bool same = now.files_[i].device == log_.files_[k].device &&
                        now.files_[i].inode == log_.files_[k].inode;
      // One that was emptied by hand begins anew.
      if (same && offsets_[k] <= now.files_[i].size) offsets[i] = offsets_[k];
    }
  }
  // The old files stay open until here: no new file has the inode of one of them.
  log_ = std::move(now);
  offsets_ = std::move(offsets);
  for (std::size_t i = log_.files_.size(); i-- > 0;) {
    IGLOO_ASSIGN(const bool go_on, ReadFile(log_.files_[i], offsets_[i], sink, broken));
    if (!go_on) return false;
  }
  return true;
}

Result<bool> LogTail::ReadFile(const Log::File& file, off_t& offset, const Sink& sink,
                               Broken& broken) {
  std::string text;
  bool skipping = false;  // the rest of a line that is too long
  off_t at = offset;
  while (at < file.size) {
    const auto size = std::min<off_t>(file.size - at, static_cast<off_t>(kBlock));
    IGLOO_ASSIGN(const std::string block,
                 ReadAt(file.fd.get(), at, static_cast<std::size_t>(size), file.path));
    if (block.empty()) break;
    at += static_cast<off_t>(block.size());
    std::string_view left = block;
    for (std::size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
      text += left.substr(0, end);
      left.remove_prefix(end + 1);
      const off_t began = std::exchange(offset, at - static_cast<off_t>(left.size()));
      const std::string line = std::exchange(text, {});
      if (std::exchange(skipping, false) || line.empty()) continue;
      const auto go_on = sink(line);
      if (!go_on) {
        broken.Add(PlaceText(file.path, began), go_on.error().what);
      } else if (!*go_on) {
        return false;
      }
    }
    if (!skipping) text += left;
    if (text.size() > kMaxLine) {
      broken.Add(PlaceText(file.path, offset), "it is too long");
      skipping = true;
      text.clear();
    }
  }
  return true;
}

}  // namespace igloo::audit
