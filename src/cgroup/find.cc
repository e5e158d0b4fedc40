#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/private_directory.h"
#include "cgroup/groups.h"

namespace igloo::cgroup {
namespace {

constexpr const char* kOurs = "/igloo";
constexpr std::size_t kLongest = 64U << 10;

std::string Text(const std::string& path) { return ReadFile(path, kLongest).value_or(""); }

bool Write(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool HasWord(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ' ';
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || text[end] == ' ' || text[end] == '\n')) return true;
  }
  return false;
}

bool HandsDown(const std::string& directory) {
  const std::string down = Text(directory + "/cgroup.subtree_control");
  return (HasWord(down, "memory") && HasWord(down, "pids")) ||
         Write(directory + "/cgroup.subtree_control", "+memory +pids");
}

/// Processors may be missing where memory and processes are counted: systemd hands those two down
/// by itself. They are handed further down when a sandbox needs that, and not before: it changes
/// how everything beside is scheduled.
bool CanHandDownCpus(const std::string& directory) {
  const std::string file = directory + "/cgroup.subtree_control";
  return HasWord(Text(directory + "/cgroup.controllers"), "cpu") &&
         (HasWord(Text(file), "cpu") || ::access(file.c_str(), W_OK) == 0);
}

Found FoundV2(const std::string& parent) {
  Found found{.kind = Kind::kV2, .place = parent + kOurs};
  found.cpus = CanHandDownCpus(parent);
  if (!found.cpus) {
    found.why_no_cpus = "the controller 'cpu' is not handed down to '" + parent +
                        "'; systemd does so with Delegate=cpu in the user's service "
                        "(user@.service.d)";
  }
  return found;
}

/// Our directory below `parent`, which counts memory and processes for its own children.
/// SECURITY: closed to others (0700): a leaf in it is taken by locking its directory, and whoever
/// can open a directory can lock it. One that another user made first is not used.
bool MakeOurs(const std::string& parent) {
  const std::string ours = parent + kOurs;
  return HandsDown(parent) && OpenPrivateDirectory(ours) && HandsDown(ours);
}

/// The usual case: the directory is there, ours, and closed to others.
bool IsOurs(const std::string& path) {
  struct stat info{};
  return ::access(path.c_str(), W_OK) == 0 && ::lstat(path.c_str(), &info) == 0 &&
         S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() && (info.st_mode & 0777U) == 0700U;
}

/// A directory with processes in it cannot hand controllers down, the topmost excepted. One that
/// was given to us may be rearranged: everything in it moves one down.
bool MakeRoom(const std::string& own) {
  if (!Exists(own + "/cgroup.type")) return true;
  if (::access((own + "/cgroup.procs").c_str(), W_OK) != 0) return false;
  const std::string below = own + "/main";
  if (::mkdir(below.c_str(), 0755) != 0 && errno != EEXIST) return false;
  const std::string processes = Text(own + "/cgroup.procs");
  for (std::size_t at = 0; at < processes.size();) {
    const std::size_t end = std::min(processes.find('\n', at), processes.size());
    // One that has ended meanwhile need not move.
    Write(below + "/cgroup.procs", processes.substr(at, end - at));
    at = end + 1;
  }
  return Text(own + "/cgroup.procs").empty();
}

Found FindV2(const std::string& root, std::string_view own) {
  // "0::/a/b" is the line of version 2.
  const std::size_t line = own.starts_with("0::") ? 0 : own.find("\n0::");
  if (line == own.npos) return {.why = "/proc/self/cgroup does not say where this process is"};
  const std::size_t begin = own.find('/', line);
  std::string path(own.substr(begin, own.find('\n', begin) - begin));
  if (path == "/") path.clear();
  const std::string here = root + path;
  // Above, where no processes are: what systemd made for this user, say.
  for (std::string above = here; !path.empty();) {
    path.resize(path.rfind('/'));
    above = root + path;
    if (::access((above + "/cgroup.procs").c_str(), W_OK) != 0) break;
    const bool empty = path.empty() || Text(above + "/cgroup.procs").empty();
    if (empty && MakeOurs(above)) return FoundV2(above);
  }
  if (::access((here + "/cgroup.procs").c_str(), W_OK) == 0 && MakeRoom(here) && MakeOurs(here)) {
    return FoundV2(here);
  }
  return {.why = "this user may not make cgroups in '" + here +
                 "'; start igloo with: systemd-run --user --scope -p Delegate=yes igloo ..."};
}

/// Version 1 has processors in a tree of their own, which is called so or so.
void FindCpusV1(const std::string& root, Found& found) {
  for (const char* tree : {"/cpu", "/cpu,cpuacct"}) {
    const std::string place = root + tree + kOurs;
    if (!Exists(root + tree + "/cpu.cfs_quota_us") && !Exists(root + tree + "/tasks")) continue;
    // SECURITY: as in MakeOurs.
    if (!IsOurs(place) && !OpenPrivateDirectory(place)) break;
    found.cpus = true;
    found.cpu_place = place;
    return;
  }
  found.why_no_cpus =
      "there is no tree of version 1 at '" + root + "/cpu' in which this user may limit processors";
}

Found FindV1(const std::string& root) {
  Found found{.kind = Kind::kV1, .place = root + "/memory" + kOurs};
  FindCpusV1(root, found);
  if (IsOurs(found.place)) return found;
  if (!Exists(root + "/memory/tasks")) {
    return {.why = "no cgroups that count memory at '" + root + "'"};
  }
  // SECURITY: as in MakeOurs; also closes one that an earlier version made with mode 0755.
  const auto made = OpenPrivateDirectory(found.place);
  if (made && ::access(found.place.c_str(), W_OK) == 0) return found;
  if (Exists(found.place)) {
    return {.why = "'" + found.place + "' is root's; so are version 1 cgroups"};
  }
  return {.why = (made ? "'" + found.place + "' is gone" : made.error().what) +
                 "; version 1 cgroups are root's"};
}

}  // namespace

std::string WhyNoCpus(const Found& found) {
  if (found.cpus) return "";
  return found.kind == Kind::kNone ? found.why : found.why_no_cpus;
}

std::string_view Name(Kind kind) {
  switch (kind) {
    case Kind::kNone:
      return "none";
    case Kind::kV1:
      return "version 1";
    case Kind::kV2:
      return "version 2";
  }
  return "?";
}

Found Find(const std::string& root, const std::function<std::string()>& own) {
  return Exists(root + "/cgroup.controllers") ? FindV2(root, own()) : FindV1(root);
}

Found Find() {
  return Find("/sys/fs/cgroup", [] { return Text("/proc/self/cgroup"); });
}

}  // namespace igloo::cgroup
