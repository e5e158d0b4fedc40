#include "backend/jail/subordinate.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>

#include "base/file.h"
#include "base/private_directory.h"
#include "base/spawn.h"
#include "base/text.h"

namespace igloo::backend::jail {
namespace {

constexpr std::size_t kLongestTable = 16U << 20;
/// Each is a file of no content in the state directory, once it was used.
constexpr std::uint32_t kMostBlocks = 4096;
/// Asking a directory service for the user's name may take its time.
constexpr int kMapMs = 10'000;

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end == text.npos ? end : end - at));
    if (end == text.npos) return parts;
    at = end + 1;
  }
}

std::optional<std::uint32_t> NumberIn(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The user's number and all names that it has.
std::vector<std::string> NamesOf(uid_t user) {
  std::vector<std::string> names = {std::to_string(user)};
  const std::string table = ReadFile("/etc/passwd", kLongestTable).value_or("");
  for (const std::string_view line : Split(table, '\n')) {
    const auto fields = Split(line, ':');
    if (fields.size() > 2 && fields[2] == names.front()) names.emplace_back(fields[0]);
  }
  return names;
}

std::unexpected<Error> Lacks(std::string what, std::string hint) {
  return Fail(Errc::kFailedPrecondition, std::move(what), std::move(hint));
}

Result<IdRange> RangeIn(const char* table, std::span<const std::string> owners,
                        std::string_view option) {
  const IdRange range = LargestRange(ReadFile(table, kLongestTable).value_or(""), owners);
  if (range.count >= ops::kIdsOfTemplate) return range;
  return Lacks(fmt::format("{} gives this user no range of {} ids or more", table,
                           std::uint32_t{ops::kIdsOfTemplate}),
               fmt::format("let root give one: usermod {} 100000-165535 {}", option,
                           ShellQuote(owners.back())));
}

Result<std::string> Mapper(std::string_view program) {
  static const std::array<std::string, 5> kPlaces = {"/usr/bin", "/bin", "/usr/sbin", "/sbin",
                                                     "/run/wrappers/bin"};
  std::string found = FindTrusted(program, kPlaces);
  if (!found.empty()) return found;
  return Lacks(fmt::format("{} is missing, or is not a set-uid program of root's", program),
               "install it (Debian: apt install uidmap; Fedora: dnf install shadow-utils)");
}

/// What would only be found out by a trial otherwise.
Result<void> CheckMachine() {
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
    return Lacks("no program that igloo starts here may gain rights (no_new_privs)",
                 "start igloo without that; in a service of systemd: NoNewPrivileges=no");
  }
  utsname kernel{};
  int major = 0;
  int minor = 0;
  if (::uname(&kernel) == 0 && std::sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
      std::pair(major, minor) < std::pair(6, 3)) {
    return Lacks(fmt::format("Linux {} has no id-mapped mounts of memory", kernel.release),
                 "they came with Linux 6.3");
  }
  return {};
}

bool OnlyRootWrites(const struct stat& info) {
  return info.st_uid == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Runs it to its end; what it complains of becomes the error.
Result<void> RunMapper(const std::string& program, pid_t pid, std::uint32_t own,
                       const IdRange& range) {
  const auto text = [](auto number) { return std::to_string(number); };
  const std::string name = program.substr(program.rfind('/') + 1);
  IGLOO_ASSIGN(FdPair pipe, MakePipe());
  // SECURITY: no variable of the caller's reaches a program that acts as root. What is mapped to
  // itself keeps its meaning inside.
  const SpawnOptions options{.program = program,
                             .argv = {name, text(pid), text(own), text(own), "1", text(range.first),
                                      text(range.first), text(range.count)},
                             .env = {},
                             .fds = {{pipe.second.get(), STDERR_FILENO}}};
  IGLOO_ASSIGN(Child child, Spawn(options));
  pipe.second.Reset();
  pollfd ended{child.pidfd(), POLLIN, 0};
  if (::poll(&ended, 1, kMapMs) != 1) {
    child.KillAndReap();
    return Fail(Errc::kTimeout, fmt::format("{} does not come to an end", program));
  }
  IGLOO_ASSIGN(const int status, child.Wait());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  // What it wrote lies in the pipe, and nobody else holds its other end.
  std::string said = ReadAll(pipe.first.get(), 4096).value_or("");
  while (said.ends_with('\n')) said.pop_back();
  return Lacks(
      fmt::format("{} failed: {}", program, said.empty() ? "it says nothing" : Printable(said)),
      "see 'man " + name +
          "'; inside a container, or where no new privileges may be gained, it cannot "
          "work");
}

}  // namespace

IdRange LargestRange(std::string_view text, std::span<const std::string> owners) {
  IdRange largest;
  for (const std::string_view line : Split(text, '\n')) {
    const auto fields = Split(line, ':');
    if (fields.size() != 3 || std::ranges::find(owners, fields[0]) == owners.end()) continue;
    const auto first = NumberIn(fields[1]);
    const auto count = NumberIn(fields[2]);
    // The last id of all means "none"; a range up to there or beyond is no range.
    if (!first || !count || *count > ~std::uint32_t{0} - *first || *first == 0) continue;
    if (*count > largest.count) largest = {*first, *count};
  }
  return largest;
}

std::string FindTrusted(std::string_view program, std::span<const std::string> directories) {
  for (const std::string& directory : directories) {
    std::string path = fmt::format("{}/{}", directory, program);
    struct stat place{};
    struct stat file{};
    if (::stat(directory.c_str(), &place) != 0 || !OnlyRootWrites(place)) continue;
    if (::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode) || !OnlyRootWrites(file)) {
      continue;
    }
    const bool raises = (file.st_mode & S_ISUID) != 0 ||
                        ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
    if (raises && ::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

Result<SubordinateIds> FindSubordinateIds() {
  IGLOO_TRY(CheckMachine());
  const std::vector<std::string> names = NamesOf(::getuid());
  SubordinateIds ids;
  IGLOO_ASSIGN(ids.users, RangeIn("/etc/subuid", names, "--add-subuids"));
  IGLOO_ASSIGN(ids.groups, RangeIn("/etc/subgid", names, "--add-subgids"));
  IGLOO_ASSIGN(ids.map_users, Mapper("newuidmap"));
  IGLOO_ASSIGN(ids.map_groups, Mapper("newgidmap"));
  return ids;
}

Result<void> MapSubordinateIds(const SubordinateIds& ids, pid_t pid) {
  IGLOO_TRY(RunMapper(ids.map_users, pid, ::getuid(), ids.users));
  return RunMapper(ids.map_groups, pid, ::getgid(), ids.groups);
}

Result<IdBlock> LeaseBlock(const SubordinateIds& ids, const std::string& directory) {
  IGLOO_ASSIGN(const UniqueFd place, OpenPrivateDirectory(directory, OwnLevels::kTwo));
  const std::uint32_t blocks = std::min(ids.blocks(), kMostBlocks);
  const auto begin = static_cast<std::uint32_t>(::getpid());
  std::optional<Error> trouble;
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const std::uint32_t block = (begin + i) % blocks;
    // Named by the first id: another range, given later, has other files.
    const std::uint32_t offset = block * ops::kIdsOfTemplate;
    const std::uint32_t first = ids.users.first + offset;
    auto lease = LockPrivateFile(fmt::format("{}/{}", directory, first));
    if (lease) return IdBlock{first, ids.groups.first + offset, *std::move(lease)};
    if (lease.error().code != Errc::kFailedPrecondition) trouble = std::move(lease).error();
  }
  if (trouble) return std::unexpected(*std::move(trouble));
  return Fail(Errc::kExhausted,
              fmt::format("all {} blocks of {} subordinate ids are in use", blocks,
                          std::uint32_t{ops::kIdsOfTemplate}),
              "end other servers of igloo's, or let root give this user a larger range");
}

}  // namespace igloo::backend::jail
