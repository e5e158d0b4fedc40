#include "agent/sudo_user.h"

#include <grp.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"

namespace igloo::agent {
namespace {

constexpr std::size_t kMostLine = 64U << 10;
// SECURITY: root starts it, so never one of somebody's PATH.
constexpr std::array<const char*, 3> kGetent = {"/usr/bin/getent", "/bin/getent",
                                                "/run/current-system/sw/bin/getent"};

template <class Number>
bool Read(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && !text.empty() && end == text.data() + text.size();
}

}  // namespace

Result<SudoUser> ParseUser(std::string_view line) {
  line = line.substr(0, line.find('\n'));
  std::array<std::string_view, 7> fields;
  std::size_t count = 0;
  for (std::size_t begin = 0; count < fields.size() && begin <= line.size(); ++count) {
    const std::size_t end = std::min(line.find(':', begin), line.size());
    fields[count] = line.substr(begin, end - begin);
    begin = end + 1;
  }
  SudoUser user{.name = std::string(fields[0]), .home = std::string(fields[5])};
  const bool sound = count == fields.size() && !user.name.empty() && Read(fields[2], user.user) &&
                     Read(fields[3], user.group) && user.home.starts_with('/');
  if (sound) return user;
  return Fail(Errc::kInvalidArgument,
              "the user database says '" + Printable(line) + "', which describes no user");
}

Result<std::string> AskGetent(const std::string& name) {
  for (const char* program : kGetent) {
    if (::access(program, X_OK) != 0) continue;
    IGLOO_ASSIGN(FdPair pipe, MakePipe());
    IGLOO_ASSIGN(Child child, Spawn({.program = program,
                                     .argv = {"getent", "passwd", name},
                                     .env = {"PATH=/usr/bin:/bin"},
                                     .fds = {{pipe.second.get(), 1}}}));
    pipe.second.Reset();
    IGLOO_ASSIGN(std::string text, ReadAll(pipe.first.get(), kMostLine));
    IGLOO_TRY(child.Wait());
    return text;
  }
  return Fail(Errc::kFailedPrecondition, "there is no getent(1), which knows the users",
              "install the package that has it (libc-bin)");
}

Result<std::optional<SudoUser>> FindSudoUser(const Lookup& lookup, const AskUsers& ask) {
  const std::string name = lookup("SUDO_USER").value_or("");
  if (name.empty()) return std::nullopt;
  IGLOO_ASSIGN(const std::string line, ask(name));
  if (line.empty()) {
    return Fail(Errc::kNotFound, "there is no user '" + Printable(Quoted(name)) + "' (SUDO_USER)",
                "start it with sudo from a user's own shell");
  }
  IGLOO_ASSIGN(SudoUser user, ParseUser(line));
  const std::string number = lookup("SUDO_UID").value_or("");
  if (user.name == name && (number.empty() || number == std::to_string(user.user))) return user;
  return Fail(Errc::kFailedPrecondition,
              "SUDO_USER and SUDO_UID name two users: '" + Printable(Quoted(name)) + "' and " +
                  Printable(number),
              "start it with sudo from a user's own shell");
}

Result<void> ActFor(const SudoUser& user) {
  const auto fail = [&](int saved_errno) {
    return FailSys(saved_errno, "cannot make files as '" + Printable(user.name) + "'",
                   "start it with sudo");
  };
  if (::setgroups(1, &user.group) != 0) return fail(errno);
  if (::setegid(user.group) != 0) return fail(errno);
  if (::seteuid(user.user) != 0) return fail(errno);
  for (const auto& [name, value] : {std::pair{"HOME", &user.home}, std::pair{"USER", &user.name},
                                    std::pair{"LOGNAME", &user.name}}) {
    ::setenv(name, value->c_str(), 1);
  }
  // They name directories of root's, or of nobody knows whom.
  for (const char* name : {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
                           "XDG_DATA_HOME"}) {
    ::unsetenv(name);
  }
  return {};
}

}  // namespace igloo::agent
