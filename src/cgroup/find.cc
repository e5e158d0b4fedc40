#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
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

/// Our directory below `parent`, which counts memory and processes for its own children.
bool MakeOurs(const std::string& parent) {
  const std::string ours = parent + kOurs;
  return HandsDown(parent) && (::mkdir(ours.c_str(), 0755) == 0 || errno == EEXIST) &&
         HandsDown(ours);
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
    if (empty && MakeOurs(above)) return {Kind::kV2, above + kOurs, {}, {}};
  }
  if (::access((here + "/cgroup.procs").c_str(), W_OK) == 0 && MakeRoom(here) && MakeOurs(here)) {
    return {Kind::kV2, here + kOurs, {}, {}};
  }
  return {.why = "this user may not make cgroups in '" + here +
                 "'; start igloo with: systemd-run --user --scope -p Delegate=yes igloo ..."};
}

Found FindV1(const std::string& root) {
  Found found{
      .kind = Kind::kV1, .memory = root + "/memory" + kOurs, .processes = root + "/pids" + kOurs};
  for (const std::string& directory : {found.memory, found.processes}) {
    // The usual case first: it is there, and it is ours.
    if (::access(directory.c_str(), W_OK) == 0) continue;
    if (errno == ENOENT && ::mkdir(directory.c_str(), 0755) == 0) continue;
    const int saved_errno = errno;
    if (saved_errno == EEXIST) continue;
    return {.why = "'" + directory + "' cannot be used (" + std::strerror(saved_errno) +
                   "); version 1 cgroups are root's alone"};
  }
  return found;
}

}  // namespace

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

Found Find(const std::string& root, std::string_view own) {
  if (Exists(root + "/cgroup.controllers")) return FindV2(root, own);
  if (Exists(root + "/memory/tasks") && Exists(root + "/pids/tasks")) return FindV1(root);
  return {.why = "no cgroups with memory and processes at '" + root + "'"};
}

Found Find() {
  const std::string root = "/sys/fs/cgroup";
  return Find(root, Exists(root + "/cgroup.controllers") ? Text("/proc/self/cgroup") : "");
}

}  // namespace igloo::cgroup
