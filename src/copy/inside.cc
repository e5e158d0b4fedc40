#include "copy/inside.h"

#include <unistd.h>

#include <charconv>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

#include "copy/proc.h"

namespace igloo::copy {
namespace {

/// More than the usual limit of a sandbox's processes.
constexpr unsigned kMostLooked = 4096;

/// What stands behind "NAME:" in one of /proc's texts, split at blanks.
std::vector<pid_t> NumbersBehind(const std::string& text, const std::string& name) {
  std::vector<pid_t> numbers;
  const std::size_t at = ("\n" + text).find("\n" + name + ":");
  if (at == std::string::npos) return numbers;
  std::istringstream line(text.substr(at + name.size() + 1, text.find('\n', at) - at));
  for (pid_t number = 0; line >> number;) numbers.push_back(number);
  return numbers;
}

std::string Proc(pid_t pid, const std::string& file) {
  return ReadProc(pid, file, 1U << 16).value_or("");
}

/// Shows `look` that igloo-init and everybody below it, until it says that this is enough.
Result<void> LookAtAll(int init_pidfd, const auto& look) {
  IGLOO_ASSIGN(const std::string about,
               ReadProc(::getpid(), "fdinfo/" + std::to_string(init_pidfd), 4096));
  const std::vector<pid_t> init = NumbersBehind(about, "Pid");
  std::deque<pid_t> open(init.begin(), init.end());
  for (unsigned looked = 0; !open.empty() && looked < kMostLooked; ++looked) {
    const pid_t pid = open.front();
    open.pop_front();
    if (look(pid)) return {};
    std::istringstream children(Proc(pid, "task/" + std::to_string(pid) + "/children"));
    for (pid_t child = 0; children >> child;) open.push_back(child);
  }
  return {};
}

}  // namespace

pid_t NumberInside(pid_t pid) {
  const std::vector<pid_t> names = NumbersBehind(Proc(pid, "status"), "NSpid");
  return names.empty() ? 0 : names.back();
}

Result<pid_t> FindInside(int init_pidfd, pid_t inner) {
  pid_t found = 0;
  IGLOO_TRY(LookAtAll(init_pidfd, [&](pid_t pid) {
    if (NumberInside(pid) == inner) found = pid;
    return found != 0;
  }));
  if (found != 0) return found;
  return Fail(Errc::kNotFound, "the session's interpreter cannot be found in its sandbox",
              "begin another session and run the same code there");
}

bool IsAlone(int init_pidfd, pid_t pid) {
  std::vector<pid_t> seen;
  const auto looked = LookAtAll(init_pidfd, [&](pid_t each) {
    seen.push_back(each);
    return seen.size() > 2;
  });
  return looked && seen.size() == 2 && seen.back() == pid;
}

}  // namespace igloo::copy
