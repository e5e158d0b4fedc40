#include "agent/registry.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <memory>

#include "base/file.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

namespace json = boost::json;

constexpr std::string_view kLock = ".lock", kDescription = ".json", kSocket = ".sock";
constexpr std::size_t kMostDescription = 64U << 10;
constexpr int kMostOfOneName = 1000;
/// How long a box may take to end before it is killed.
constexpr int kStopMillis = 10'000;

constexpr std::array<std::string_view, 11> kVerbs = {"list",   "enter",   "stop",     "why",
                                                     "pause",  "resume",  "gc",       "bind",
                                                     "attach", "history", "proposals"};

std::string PathOf(const std::string& directory, const std::string& name, std::string_view end) {
  return directory + "/" + name + std::string(end);
}

/// The lock of a name, if nobody has it. Whoever ended may have removed the file in between.
Result<UniqueFd> TakeLock(const std::string& path) {
  for (;;) {
    IGLOO_ASSIGN(UniqueFd lock, LockPrivateFile(path));
    struct stat held{}, there{};
    const bool same = ::fstat(lock.get(), &held) == 0 && ::lstat(path.c_str(), &there) == 0 &&
                      held.st_ino == there.st_ino && held.st_dev == there.st_dev;
    if (same) return lock;
  }
}

bool IsTaken(const Error& error) { return error.code == Errc::kFailedPrecondition; }

void Remove(const std::string& directory, const std::string& name) {
  ::unlink(PathOf(directory, name, kDescription).c_str());
  ::unlink(PathOf(directory, name, kSocket).c_str());
  ::unlink(PathOf(directory, name, kLock).c_str());
}

std::string Encode(const BoxInfo& info) {
  return json::serialize(json::object{{"name", info.name},
                                      {"agent", info.agent},
                                      {"project", info.project},
                                      {"network", info.network},
                                      {"started", info.started},
                                      {"process", info.process}}) +
         "\n";
}

}  // namespace

Result<void> CheckBoxName(std::string_view name) {
  const bool plain = !name.empty() && name.size() <= 64 && name.front() != '.' &&
                     name.front() != '-' && std::ranges::all_of(name, [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
                     });
  if (!plain) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(Quoted(name)) + "' cannot name a box",
                "use letters, digits, '.', '_' and '-', at most 64");
  }
  if (std::ranges::find(kVerbs, name) == kVerbs.end()) return {};
  return Fail(Errc::kInvalidArgument, "'" + std::string(name) + "' is a command of 'igloo agent'",
              "choose another name");
}

BoxRegistry::Place::Place(Place&& other) noexcept
    : directory_(std::move(other.directory_)),
      name_(std::move(other.name_)),
      lock_(std::move(other.lock_)) {}

BoxRegistry::Place::~Place() {
  if (lock_) Remove(directory_, name_);
}

Result<BoxRegistry> BoxRegistry::Open(const std::string& directory) {
  IGLOO_TRY(OpenPrivateDirectory(directory, OwnLevels::kTwo));
  return BoxRegistry(directory);
}

Result<BoxRegistry::Place> BoxRegistry::Enter(BoxInfo info, Name name) const {
  const std::string wanted = info.name;
  for (int number = 2; number <= kMostOfOneName; ++number) {
    IGLOO_TRY(CheckBoxName(info.name));
    auto lock = TakeLock(PathOf(directory_, info.name, kLock));
    if (lock) {
      Place place(directory_, info.name, *std::move(lock));
      info.process = ::getpid();
      IGLOO_TRY(
          ReplaceFile(PathOf(directory_, info.name, kDescription), Encode(info), {}, Sync::kNo));
      return place;
    }
    if (!IsTaken(lock.error())) return std::unexpected(std::move(lock).error());
    if (name == Name::kExactly) break;
    info.name = wanted + "-" + std::to_string(number);
  }
  return Fail(Errc::kFailedPrecondition, "there is a box '" + wanted + "' already",
              "choose another --name, or end it: igloo agent stop " + wanted);
}

std::string BoxRegistry::SocketOf(const std::string& name) const {
  return PathOf(directory_, name, kSocket);
}

std::optional<BoxInfo> BoxRegistry::Read(const std::string& name) const {
  const auto text = ReadFile(PathOf(directory_, name, kDescription), kMostDescription);
  if (!text) return std::nullopt;
  boost::system::error_code error;
  const json::value value = json::parse(*text, error);
  const json::object* object = error ? nullptr : value.if_object();
  if (object == nullptr) return std::nullopt;
  const auto text_of = [&](std::string_view key) {
    const json::value* at = object->if_contains(key);
    return at != nullptr && at->is_string() ? std::string(at->get_string()) : std::string();
  };
  const auto number_of = [&](std::string_view key) {
    const json::value* at = object->if_contains(key);
    return at != nullptr && at->is_int64() ? at->get_int64() : 0;
  };
  return BoxInfo{.name = name,
                 .agent = text_of("agent"),
                 .project = text_of("project"),
                 .network = text_of("network"),
                 .started = number_of("started"),
                 .process = number_of("process")};
}

Result<std::vector<BoxInfo>> BoxRegistry::List() const {
  const std::unique_ptr<DIR, decltype(&::closedir)> directory(::opendir(directory_.c_str()),
                                                              &::closedir);
  if (!directory) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot read '" + Printable(directory_) + "'");
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view file = entry->d_name;
    if (file.ends_with(kLock)) names.emplace_back(file.substr(0, file.size() - kLock.size()));
  }
  std::ranges::sort(names);
  std::vector<BoxInfo> alive;
  for (const std::string& name : names) {
    if (auto lock = TakeLock(PathOf(directory_, name, kLock))) {
      Remove(directory_, name);  // nobody holds it: its igloo was killed
    } else if (IsTaken(lock.error())) {
      if (auto info = Read(name)) alive.push_back(*std::move(info));
    }
  }
  return alive;
}

Result<BoxInfo> BoxRegistry::Find(std::string_view name) const {
  IGLOO_ASSIGN(const std::vector<BoxInfo> boxes, List());
  std::string names;
  for (const BoxInfo& each : boxes) {
    if (each.name == name) return each;
    names += (names.empty() ? "" : ", ") + each.name;
  }
  return Fail(Errc::kNotFound, "there is no box '" + Printable(Quoted(name)) + "'",
              names.empty() ? "none runs; start one: igloo agent claude" : "there are: " + names);
}

Result<void> BoxRegistry::Stop(const BoxInfo& box) const {
  const auto pid = static_cast<pid_t>(box.process);
  const UniqueFd process(pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1);
  // SECURITY: while the lock is held the number is that of its holder and nobody else's.
  const auto now = Find(box.name);
  if (!now || now->process != box.process) return {};
  if (!process) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot reach the igloo of box '" + box.name + "'");
  }
  for (const int signal : {SIGTERM, SIGKILL}) {
    ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
    pollfd ended{process.get(), POLLIN, 0};
    if (::poll(&ended, 1, kStopMillis) > 0) return {};
  }
  return Fail(Errc::kTimeout, "box '" + box.name + "' does not end",
              "look at the process " + std::to_string(box.process));
}

}  // namespace igloo::agent
