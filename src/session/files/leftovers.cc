#include "session/files/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "session/files/workspace.h"

namespace igloo::session {
namespace {

bool IsNoise(std::string_view name) {
  return name.starts_with('.') || name == "__pycache__" || name == "node_modules";
}

std::optional<std::vector<std::string>> NamesIn(int directory, std::size_t most) {
  std::vector<std::string> names;
  // A description of its own: reading moves a position, and fdopendir takes what it is given.
  UniqueFd own = OpenBelow(directory, ".", O_RDONLY | O_DIRECTORY);
  DIR* stream = own ? ::fdopendir(own.get()) : nullptr;
  if (stream == nullptr) return std::nullopt;
  (void)own.Release();
  const std::unique_ptr<DIR, int (*)(DIR*)> closing(stream, &::closedir);
  while (names.size() < most) {
    const dirent* entry = ::readdir(stream);
    if (entry == nullptr) break;
    if (!IsNoise(entry->d_name)) names.emplace_back(entry->d_name);
  }
  std::ranges::sort(names);
  return names;
}

/// Work that one slice may take, in bytes: looking at a name counts as some.
constexpr std::uint64_t kSlice = 1U << 20, kName = 4096;

}  // namespace

class LeftoversReader::Walk {
 public:
  Walk(int directory, const std::vector<environment::GivenFile>& given, const LeftLimits& limits,
       Stamps* stamps)
      : given_(given), limits_(limits), stamps_(stamps) {
    Enter({.directory = directory});
  }

  bool Step() {
    for (std::uint64_t done = 0; !places_.empty() && done < kSlice;) done += Next();
    return !places_.empty();
  }

  Leftovers Take() {
    std::ranges::sort(out_.files, {}, &LeftFile::path);
    return std::move(out_);
  }

 private:
  /// A directory that is being looked at.
  struct Place {
    UniqueFd own = {};  ///< but the first, which is the caller's
    int directory = -1;
    std::string prefix = {};
    std::vector<std::string> names = {};
    std::size_t next = 0;
  };

  void Enter(Place place) {
    auto names = NamesIn(place.directory, limits_.entries + 1);
    if (!names) {
      out_.complete = false;
      return;
    }
    place.names = *std::move(names);
    places_.push_back(std::move(place));
  }

  /// The cost of it.
  std::uint64_t Next() {
    if (unchecked_) return Check(out_.files.back());
    Place& place = places_.back();
    if (place.next == place.names.size()) {
      places_.pop_back();
      return 0;
    }
    if (++seen_ > limits_.entries || out_.files.size() >= limits_.files) {
      out_.complete = false;
      places_.clear();
      return 0;
    }
    const std::string name = std::move(place.names[place.next++]);
    return kName + Look(place.directory, name, place.prefix + name);
  }

  std::uint64_t Look(int directory, const std::string& name, const std::string& path) {
    struct stat info{};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return 0;
    if (S_ISDIR(info.st_mode)) {
      UniqueFd below = OpenBelow(directory, name.c_str(), O_RDONLY | O_DIRECTORY);
      if (below && places_.size() < limits_.depth) {
        const int handle = below.get();
        Enter({.own = std::move(below), .directory = handle, .prefix = path + "/"});
      } else {
        out_.complete = false;
      }
    } else if (S_ISREG(info.st_mode) && IsNews(path, info)) {
      return Read(directory, name, path, static_cast<std::uint64_t>(info.st_size));
    }
    return 0;
  }

  bool IsNews(const std::string& path, const struct stat& info) {
    if (stamps_ == nullptr) return true;
    const Stamp stamp = StampOf(info);
    const auto [place, added] = stamps_->try_emplace(path, stamp);
    if (!added && place->second == stamp) return false;
    place->second = stamp;
    return true;
  }

  std::uint64_t Read(int directory, const std::string& name, const std::string& path,
                     std::uint64_t size) {
    LeftFile file{.path = path, .size = size, .state = LeftFile::State::kTooLarge};
    if (size <= limits_.file_bytes && total_ + size <= limits_.total_bytes) {
      ReadBytes(directory, name, file);
    }
    const std::uint64_t cost = file.bytes.size();
    if (file.state == LeftFile::State::kRead) {
      if (WasGiven(file)) return cost;
      total_ += cost;
      unchecked_ = 0;
    }
    out_.files.push_back(std::move(file));
    return cost;
  }

  /// Whether a file is text, a slice of it at a time. The cost of it.
  std::uint64_t Check(LeftFile& file) {
    std::string_view piece = std::string_view(file.bytes).substr(*unchecked_);
    if (piece.size() > kSlice) {
      std::size_t end = kSlice;
      // No piece ends inside a character; what has more than three such bytes is no text anyway.
      const auto inside = [&] { return (static_cast<unsigned char>(piece[end]) & 0xC0) == 0x80; };
      for (int i = 0; i < 3 && inside(); ++i) --end;
      piece = piece.substr(0, end);
    }
    *unchecked_ += piece.size();
    file.text = IsPlainText(piece);
    if (!file.text || *unchecked_ == file.bytes.size()) unchecked_.reset();
    return piece.size();
  }

  void ReadBytes(int directory, const std::string& name, LeftFile& file) {
    file.state = LeftFile::State::kUnreadable;
    const UniqueFd fd = OpenBelow(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
    // In a session something may still run, and put something else in its place.
    struct stat info{};
    if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    auto bytes = ReadAll(fd.get(), limits_.file_bytes);
    if (!bytes) return;
    file.state = LeftFile::State::kRead;
    file.bytes = *std::move(bytes);
    file.size = file.bytes.size();
  }

  bool WasGiven(const LeftFile& file) const {
    return std::ranges::any_of(given_, [&](const environment::GivenFile& each) {
      return each.path == file.path && each.content == file.bytes;
    });
  }

  const std::vector<environment::GivenFile>& given_;
  LeftLimits limits_;
  Stamps* stamps_;
  std::vector<Place> places_ = {};  ///< from the first directory to where it is now
  Leftovers out_ = {};
  std::optional<std::size_t> unchecked_ = {};  ///< where the check of the last file goes on
  std::size_t seen_ = 0;
  std::uint64_t total_ = 0;
};

LeftoversReader::LeftoversReader(int directory, const std::vector<environment::GivenFile>& given,
                                 const LeftLimits& limits, Stamps* stamps)
    : walk_(std::make_unique<Walk>(directory, given, limits, stamps)) {}
LeftoversReader::~LeftoversReader() = default;

bool LeftoversReader::Step() { return walk_->Step(); }
Leftovers LeftoversReader::Take() { return walk_->Take(); }

Leftovers ReadLeftovers(int directory, const std::vector<environment::GivenFile>& given,
                        const LeftLimits& limits, Stamps* stamps) {
  LeftoversReader reader(directory, given, limits, stamps);
  while (reader.Step()) {
  }
  return reader.Take();
}

bool IsPlainText(std::string_view bytes) {
  const auto control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') || byte == 0x7f;
  };
  return std::ranges::none_of(bytes, control) && IsUtf8(bytes);
}

}  // namespace igloo::session
