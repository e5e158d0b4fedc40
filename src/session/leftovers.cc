#include "session/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/file.h"

namespace igloo::session {
namespace {

UniqueFd OpenBelow(int directory, const char* name, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, directory, name, &how, sizeof how)));
}

bool IsNoise(std::string_view name) {
  return name.starts_with('.') || name == "__pycache__" || name == "node_modules";
}

std::vector<std::string> NamesIn(int directory, std::size_t most) {
  std::vector<std::string> names;
  // A description of its own: reading moves a position, and fdopendir takes what it is given.
  UniqueFd own = OpenBelow(directory, ".", O_RDONLY | O_DIRECTORY);
  DIR* stream = own ? ::fdopendir(own.get()) : nullptr;
  if (stream == nullptr) return names;
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

class Reader {
 public:
  Reader(const std::vector<environment::GivenFile>& given, const LeftLimits& limits, Stamps* stamps)
      : given_(given), limits_(limits), stamps_(stamps) {}

  void Walk(int directory, const std::string& prefix, std::size_t depth) {
    for (const std::string& name : NamesIn(directory, limits_.entries + 1)) {
      if (++seen_ > limits_.entries || out_.files.size() >= limits_.files) {
        out_.complete = false;
        return;
      }
      Look(directory, name, prefix, depth);
    }
  }

  Leftovers Take() {
    std::ranges::sort(out_.files, {}, &LeftFile::path);
    return std::move(out_);
  }

 private:
  void Look(int directory, const std::string& name, const std::string& prefix, std::size_t depth) {
    struct stat info{};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    const std::string path = prefix + name;
    if (S_ISDIR(info.st_mode)) {
      const UniqueFd below = OpenBelow(directory, name.c_str(), O_RDONLY | O_DIRECTORY);
      if (!below) return;
      if (depth < limits_.depth) {
        Walk(below.get(), path + "/", depth + 1);
      } else {
        out_.complete = false;
      }
    } else if (S_ISREG(info.st_mode) && IsNews(path, info)) {
      Read(directory, name, path, static_cast<std::uint64_t>(info.st_size));
    }
  }

  bool IsNews(const std::string& path, const struct stat& info) {
    if (stamps_ == nullptr) return true;
    const Stamp stamp{.inode = info.st_ino,
                      .size = static_cast<std::uint64_t>(info.st_size),
                      .changed_ns = info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec};
    const auto [place, added] = stamps_->try_emplace(path, stamp);
    if (!added && place->second == stamp) return false;
    place->second = stamp;
    return true;
  }

  void Read(int directory, const std::string& name, const std::string& path, std::uint64_t size) {
    LeftFile file{.path = path, .size = size};
    if (size <= limits_.file_bytes && total_ + size <= limits_.total_bytes) {
      const UniqueFd fd = OpenBelow(directory, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
      // In a session something may still run, and put something else in its place.
      struct stat info{};
      const bool regular = fd && ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode);
      auto bytes = regular ? ReadAll(fd.get(), limits_.file_bytes) : Result<std::string>("");
      file.read = regular && bytes;
      if (file.read) {
        file.bytes = *std::move(bytes);
        file.size = size = file.bytes.size();
        total_ += size;
      }
    }
    if (file.read && WasGiven(file)) {
      total_ -= size;
      return;
    }
    out_.files.push_back(std::move(file));
  }

  bool WasGiven(const LeftFile& file) const {
    return std::ranges::any_of(given_, [&](const environment::GivenFile& each) {
      return each.path == file.path && each.content == file.bytes;
    });
  }

  const std::vector<environment::GivenFile>& given_;
  LeftLimits limits_;
  Stamps* stamps_;
  Leftovers out_ = {};
  std::size_t seen_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

Leftovers ReadLeftovers(int directory, const std::vector<environment::GivenFile>& given,
                        const LeftLimits& limits, Stamps* stamps) {
  Reader reader(given, limits, stamps);
  reader.Walk(directory, "", 1);
  return reader.Take();
}

}  // namespace igloo::session
