#include "watch/paths.h"

#include <dirent.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>

#include "base/file.h"

namespace igloo::watch {
namespace {

constexpr std::uint32_t kNameEvents =
    IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB;
constexpr std::uint32_t kContentEvents = IN_MODIFY | IN_CLOSE_WRITE;
constexpr std::uint32_t kOwnEvents = IN_DELETE_SELF | IN_MOVE_SELF;

/// As many as the kernel itself follows.
constexpr int kMostLinks = 40;

std::string Below(const std::string& directory, const std::string& name) {
  return directory == "/" ? "/" + name : directory + "/" + name;
}

/// Puts the parts of a path before what is left of another.
void Prepend(const std::string& path, std::deque<std::string>& parts) {
  std::deque<std::string> out;
  for (const auto& part : std::filesystem::path(path)) {
    if (part != "/" && part != "." && !part.empty()) out.push_back(part.string());
  }
  parts.insert(parts.begin(), out.begin(), out.end());
}

Error TooMany(std::size_t most) {
  return {Errc::kExhausted,
          "more than " + std::to_string(most) + " directories would have to be watched",
          "changes in the others count when igloo is started again", 0};
}

}  // namespace

Result<Paths> Paths::Make(std::vector<Watched> watched, std::size_t most_directories) {
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot watch files",
                   "raise the limit: sysctl fs.inotify.max_user_instances=1024");
  }
  Paths paths(std::move(inotify), most_directories);
  paths.Set(std::move(watched));
  return paths;
}

void Paths::Set(std::vector<Watched> watched) {
  watched_ = std::move(watched);
  for (Watched& each : watched_) {
    std::error_code ignored;  // without a current directory there is nothing to watch
    each.path = std::filesystem::absolute(each.path, ignored).string();
  }
  Renew();
}

/// Every directory is watched before what is in it is looked at: what appears in between is an
/// event, and the next round finds it.
void Paths::Renew() {
  renewed_.clear();
  known_.clear();
  incomplete_.reset();
  for (const Watched& each : watched_) {
    const bool has_entries = !each.in_each.empty();
    const auto end = Walk("/", each.path, has_entries ? Matter::kName : Matter::kContent);
    if (has_entries && end) WalkEach(*end, each.in_each);
  }
  for (const auto& [wd, node] : nodes_) {
    // One that the kernel gave up itself is an error here that means nothing.
    if (!renewed_.contains(wd)) ::inotify_rm_watch(inotify_.get(), wd);
  }
  nodes_ = std::move(renewed_);
}

void Paths::Want(const std::string& directory, const std::string& name, Matter matter) {
  auto known = known_.find(directory);
  const bool content = matter == Matter::kContent;
  const bool more = known == known_.end() ||
                    (content && known->second >= 0 && renewed_[known->second].contents.empty());
  if (known == known_.end() && renewed_.size() >= most_) {
    if (!incomplete_) incomplete_ = TooMany(most_);
    return;
  }
  if (more) {
    // Two names of one directory share a watch; it must not forget what the first one wanted.
    const std::uint32_t mask = kNameEvents | kOwnEvents | (content ? kContentEvents : 0) |
                               IN_MASK_ADD | IN_ONLYDIR | IN_EXCL_UNLINK;
    const int wd = ::inotify_add_watch(inotify_.get(), directory.c_str(), mask);
    const int saved_errno = errno;
    if (wd < 0 && saved_errno == ENOSPC && !incomplete_) {
      incomplete_ = FailSys(saved_errno, "cannot watch '" + directory + "'",
                            "raise the limit: sysctl fs.inotify.max_user_watches=65536")
                        .error();
    }
    // One that may not be read cannot be watched; what is below it still can.
    known = known_.insert_or_assign(directory, wd).first;
  }
  if (known->second < 0) return;
  Node& node = renewed_[known->second];
  if (matter == Matter::kEveryName) node.every_name = true;
  if (matter == Matter::kName) node.names.insert(name);
  if (matter == Matter::kContent) node.contents.insert(name);
}

std::optional<std::string> Paths::Walk(std::string directory, const std::string& path,
                                       Matter last) {
  std::deque<std::string> parts;
  Prepend(path, parts);
  int links = 0;
  while (!parts.empty()) {
    const std::string name = std::move(parts.front());
    parts.pop_front();
    if (name == "..") {
      directory = std::filesystem::path(directory).parent_path().string();
      continue;
    }
    Want(directory, name, parts.empty() ? last : Matter::kName);
    const std::string here = Below(directory, name);
    struct stat info{};
    if (::lstat(here.c_str(), &info) != 0) return std::nullopt;
    if (S_ISLNK(info.st_mode)) {
      const auto target = ReadLink(here);
      if (!target || target->empty() || ++links > kMostLinks) return std::nullopt;
      if (target->starts_with('/')) directory = "/";
      Prepend(*target, parts);
    } else if (S_ISDIR(info.st_mode) || parts.empty()) {
      directory = here;
    } else {
      return std::nullopt;
    }
  }
  return directory;
}

void Paths::WalkEach(const std::string& directory, const std::string& file) {
  Want(directory, "", Matter::kEveryName);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  if (!entries) return;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || entry->d_type == DT_REG) continue;
    Walk(directory, Below(name, file), Matter::kContent);
    if (incomplete_) return;
  }
}

bool Paths::Matters(int wd, std::uint32_t mask, const char* name) const {
  if ((mask & IN_Q_OVERFLOW) != 0) return true;
  const auto at = nodes_.find(wd);
  // What was already in the queue when its directory was given up.
  if (at == nodes_.end()) return false;
  const Node& node = at->second;
  if ((mask & (kOwnEvents | IN_UNMOUNT | IN_IGNORED)) != 0) return true;
  if ((mask & kContentEvents) != 0) return node.contents.contains(name);
  return node.every_name || node.names.contains(name) || node.contents.contains(name);
}

bool Paths::Drain() {
  alignas(inotify_event) std::array<char, 16U << 10> buffer;
  bool matters = false;
  for (;;) {
    const ssize_t count = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    for (std::size_t at = 0; at < static_cast<std::size_t>(count);) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = event.len == 0 ? "" : buffer.data() + at + sizeof event;
      matters = matters || Matters(event.wd, event.mask, name);
      at += sizeof event + event.len;
    }
  }
  if (matters) Renew();
  return matters;
}

}  // namespace igloo::watch
