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
#include <tuple>

#include "base/file.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/unix_listener.h"

namespace igloo::agent {
namespace {

namespace json = boost::json;

constexpr std::string_view kLock = ".lock", kDescription = ".json", kSocket = ".sock";
constexpr std::string_view kTmux = ".tmux", kTurn = ".turn";
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
Result<UniqueFd> TakeLock(const std::string& path,
                          Result<UniqueFd> (*take)(const std::string&) = LockPrivateFile) {
  for (;;) {
    IGLOO_ASSIGN(UniqueFd lock, take(path));
    struct stat held{}, there{};
    const bool same = ::fstat(lock.get(), &held) == 0 && ::lstat(path.c_str(), &there) == 0 &&
                      held.st_ino == there.st_ino && held.st_dev == there.st_dev;
    if (same) return lock;
  }
}

bool IsTaken(const Error& error) { return error.code == Errc::kFailedPrecondition; }

/// Whether a server listens there. The file of one that ended is removed.
bool IsHeard(const std::string& socket) {
  if (const auto connected = ConnectToOwn(socket); !connected) {
    if (connected.error().sys_errno == ECONNREFUSED) ::unlink(socket.c_str());
    return false;
  }
  return true;
}

void Remove(const std::string& directory, const std::string& name) {
  ::unlink(PathOf(directory, name, kDescription).c_str());
  ::unlink(PathOf(directory, name, kSocket).c_str());
  ::unlink(PathOf(directory, name, kLock).c_str());
}

/// What stands before `end` in the names of a directory's files, in its order.
Result<std::vector<std::string>> NamesWith(const std::string& path, std::string_view end) {
  const std::unique_ptr<DIR, decltype(&::closedir)> directory(::opendir(path.c_str()), &::closedir);
  if (!directory) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot read '" + Printable(path) + "'");
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view file = entry->d_name;
    if (!file.ends_with(end)) continue;
    std::string name(file.substr(0, file.size() - end.size()));
    // The lock beside a socket that is being made is no box's.
    if (CheckBoxName(name)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

std::string Encode(const BoxInfo& info) {
  return json::serialize(json::object{{"name", info.name},
                                      {"agent", info.agent},
                                      {"project", info.project},
                                      {"network", info.network},
                                      {"started", info.started},
                                      {"process", info.process},
                                      {"tmux", info.in_tmux},
                                      {"paused", info.paused},
                                      {"hits", json::array(info.hits.begin(), info.hits.end())}}) +
         "\n";
}

}  // namespace

Result<void> CheckBoxName(std::string_view name) {
  const bool plain = !name.empty() && name.size() <= 64 && name.front() != '.' &&
                     name.front() != '-' && std::ranges::all_of(name, [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
                     });
  constexpr std::array<std::string_view, 5> kEnds = {kLock, kDescription, kSocket, kTmux, kTurn};
  const bool of_a_file =
      std::ranges::any_of(kEnds, [&](std::string_view each) { return name.ends_with(each); });
  if (!plain || of_a_file) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(Quoted(name)) + "' cannot name a box",
                of_a_file ? "choose one that does not end like igloo's own files"
                          : "use letters, digits, '.', '_' and '-', at most 64");
  }
  if (std::ranges::find(kVerbs, name) == kVerbs.end()) return {};
  return Fail(Errc::kInvalidArgument, "'" + std::string(name) + "' is a command of 'igloo agent'",
              "choose another name");
}

BoxRegistry::Place::Place(Place&& other) noexcept
    : directory_(std::move(other.directory_)),
      info_(std::move(other.info_)),
      lock_(std::move(other.lock_)) {}

BoxRegistry::Place::~Place() {
  if (lock_) Remove(directory_, info_.name);
}

Result<void> BoxRegistry::Place::Update(BoxInfo info) {
  info.name = info_.name;
  info.process = info_.process;
  if (info == info_) return {};
  IGLOO_TRY(ReplaceFile(PathOf(directory_, info.name, kDescription), Encode(info)));
  info_ = std::move(info);
  return {};
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
    if (lock && (info.in_tmux || !IsHeard(TmuxSocketOf(info.name)))) {
      info.process = ::getpid();
      Place place(directory_, info, *std::move(lock));
      IGLOO_TRY(
          ReplaceFile(PathOf(directory_, info.name, kDescription), Encode(info), {}, Sync::kNo));
      return place;
    }
    if (lock) Remove(directory_, info.name);
    if (!lock && !IsTaken(lock.error())) return std::unexpected(std::move(lock).error());
    if (name == Name::kExactly) break;
    info.name = wanted + "-" + std::to_string(number);
  }
  return Fail(Errc::kFailedPrecondition, "there is a box '" + wanted + "' already",
              "choose another --name, or end it: igloo agent stop " + wanted);
}

Result<std::vector<BoxInfo>> BoxRegistry::OfProject(const std::string& project) const {
  IGLOO_ASSIGN(std::vector<BoxInfo> boxes, List());
  std::erase_if(boxes, [&](const BoxInfo& each) { return each.project != project; });
  const auto key = [](const BoxInfo& each) { return std::tie(each.started, each.name); };
  std::ranges::sort(boxes, {}, key);
  return boxes;
}

Result<BoxRegistry::BoxOrTurn> BoxRegistry::JoinOrStart(const std::string& project,
                                                        const std::string& agent) const {
  const std::string key = Sha256Hex(project).substr(0, 16);
  IGLOO_ASSIGN(UniqueFd turn, TakeLock(PathOf(directory_, key, kTurn), WaitForPrivateLock));
  IGLOO_ASSIGN(const std::vector<BoxInfo> boxes, OfProject(project));
  const auto box = std::ranges::find(boxes, agent, &BoxInfo::agent);
  if (box == boxes.end()) return BoxOrTurn{.turn = std::move(turn)};
  return BoxOrTurn{.box = *box};
}

std::string BoxRegistry::SocketOf(const std::string& name) const {
  return PathOf(directory_, name, kSocket);
}

std::string BoxRegistry::TmuxSocketOf(const std::string& name) const {
  return PathOf(directory_, name, kTmux);
}

void BoxRegistry::RemoveTurns() const {
  for (const std::string& name :
       NamesWith(directory_, kTurn).value_or(std::vector<std::string>())) {
    const std::string path = PathOf(directory_, name, kTurn);
    if (const auto lock = TakeLock(path)) ::unlink(path.c_str());
  }
}

Result<std::vector<std::string>> BoxRegistry::TmuxNames() const {
  return NamesWith(directory_, kTmux);
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
  const auto is = [&](std::string_view key) {
    const json::value* at = object->if_contains(key);
    return at != nullptr && at->is_bool() && at->get_bool();
  };
  BoxInfo info{.name = name,
               .agent = text_of("agent"),
               .project = text_of("project"),
               .network = text_of("network"),
               .started = number_of("started"),
               .process = number_of("process"),
               .in_tmux = is("tmux"),
               .paused = is("paused")};
  if (const json::value* hits = object->if_contains("hits"); hits != nullptr && hits->is_array()) {
    for (const json::value& each : hits->get_array()) {
      if (each.is_string()) info.hits.emplace_back(each.get_string());
    }
  }
  return info;
}

Result<std::vector<BoxInfo>> BoxRegistry::List() const {
  IGLOO_ASSIGN(const std::vector<std::string> names, NamesWith(directory_, kLock));
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

Result<std::vector<std::string>> BoxRegistry::Dead() const {
  IGLOO_ASSIGN(std::vector<std::string> names, NamesWith(directory_, kLock));
  std::erase_if(names, [&](const std::string& name) {
    return !TakeLock(PathOf(directory_, name, kLock)).has_value();
  });
  return names;
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
