#include "agent/explain.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "base/overloaded.h"
#include "base/text.h"
#include "sandbox/entry.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

using sandbox::IsWithin;

constexpr std::string_view kNoTracing =
    "nothing allows it: code in a box neither reads nor steers other processes";
constexpr std::string_view kNoNamespaces =
    "nothing allows it: a box has one wall, and code inside builds no second one; switch the "
    "program's own sandbox off";
constexpr std::string_view kNoMounts =
    "nothing allows it: what a box shows is settled when it starts; --mount DIR and --home SUBDIR "
    "show more";
constexpr std::string_view kNoKernelParts =
    "nothing allows it: this part of the kernel is closed to boxes";

struct CallRow {
  long number;
  std::string_view name;
  std::string_view remedy;
};
/// The calls that igloo-init tells of (guest/filter_rules.h).
constexpr std::array<CallRow, 14> kCalls = {{
    {SYS_ptrace, "ptrace", kNoTracing},
    {SYS_process_vm_readv, "process_vm_readv", kNoTracing},
    {SYS_process_vm_writev, "process_vm_writev", kNoTracing},
    {SYS_clone, "clone with new namespaces", kNoNamespaces},
    {SYS_unshare, "unshare", kNoNamespaces},
    {SYS_setns, "setns", kNoNamespaces},
    {SYS_mount, "mount", kNoMounts},
    {SYS_umount2, "umount2", kNoMounts},
    {SYS_pivot_root, "pivot_root", kNoMounts},
    {SYS_chroot, "chroot", kNoMounts},
    {SYS_perf_event_open, "perf_event_open", kNoKernelParts},
    {SYS_bpf, "bpf", kNoKernelParts},
    {SYS_userfaultfd, "userfaultfd", kNoKernelParts},
    {SYS_socket, "raw or packet socket",
     "raw_sockets = true of its environment allows it ([environments.NAME] in the configuration), "
     "with --network internet"},
}};

/// Where the programs of the system lie, and what belongs to them.
constexpr std::array<std::string_view, 11> kSystem = {
    "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/nix", "/boot", "/var", "/opt", "/root"};

bool IsSystems(std::string_view path) {
  return std::ranges::any_of(kSystem, [&](std::string_view each) { return IsWithin(path, each); });
}

bool IsRefusal(int error) { return error == EACCES || error == EPERM || error == EROFS; }

std::string ParentOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

}  // namespace

std::string PlainPath(std::string_view path) {
  std::string plain = std::filesystem::path(path).lexically_normal().string();
  if (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return plain;
}

std::string DirectoryBelowHome(const std::string& path, const std::string& home) {
  if (!IsWithin(path, home) || path.size() <= home.size() + 1) return {};
  const std::string below = path.substr(home.size() + 1);
  const std::size_t slash = below.find('/');
  if (slash == std::string::npos) return {};
  // What these hold belongs to many programs.
  for (const std::string_view shared : {".local/share/", ".local/state/", ".config/", ".cache/"}) {
    if (!below.starts_with(shared)) continue;
    return below.substr(0, below.find('/', shared.size()));
  }
  return below.substr(0, slash);
}

std::optional<Refusal> ExplainNetwork(const network::Record& record) {
  using Event = network::Record::Event;
  const bool refused = record.event == Event::kRefused || record.event == Event::kEnded;
  if (!refused || record.refusal.empty()) return std::nullopt;
  const bool six = record.host.contains(':') && !record.host.starts_with('[');
  const std::string host = six ? "[" + record.host + "]" : record.host;
  const std::int64_t at = record.time_ms / 1000;
  return Refusal{
      .kind = RefusalKind::kNetwork,
      .what = host.empty() ? "a place without a name" : host + ":" + std::to_string(record.port),
      .reason = record.refusal,
      .remedy = record.remedy.empty() ? "no rule allows it"
                                      : "--allow " + ShellQuote(record.remedy) +
                                            " allows it; in a box that runs: igloo net allow " +
                                            ShellQuote(record.remedy),
      .first = at,
      .last = at};
}

Refusal ExplainCall(std::uint32_t number, const std::string& program, std::uint64_t times) {
  const auto* row = std::ranges::find(kCalls, static_cast<long>(number), &CallRow::number);
  const bool known = row != kCalls.end();
  return {.kind = RefusalKind::kCall,
          .what = known ? std::string(row->name) : "other calls",
          .program = program,
          .remedy = std::string(known ? row->remedy : "nothing is known of them but their number"),
          .count = times};
}

Refusal ExplainGrant(std::string_view grant, std::string_view what) {
  return {.kind = RefusalKind::kGrant,
          .what = std::string(what),
          .reason = "asked of the socket of " + std::string(grant),
          .remedy =
              "nothing allows it: the grant is for signatures with the keys that the summary "
              "names"};
}

bool IsEverybodys(std::string_view path) {
  constexpr std::array<std::string_view, 5> kTheirs = {"/proc", "/sys", "/dev", "/run", "/tmp"};
  return std::ranges::any_of(kTheirs, [&](std::string_view each) { return IsWithin(path, each); });
}

BoxPlaces::BoxPlaces(const Box& box, const sandbox::Plan& plan, Exists exists)
    : box_(box), exists_(std::move(exists)) {
  namespace step = sandbox::step;
  const auto add = [&](const std::string& path, bool writable, std::string why = {}) {
    places_.push_back({path, writable, std::move(why)});
  };
  for (const auto* steps : {&plan.environment, &plan.fresh, &plan.run}) {
    for (const sandbox::Step& each : *steps) {
      std::visit(
          Overloaded{
              [&](const step::Bind& s) { add(s.target, s.access == sandbox::Access::kReadWrite); },
              [&](const step::Overlay& s) {
                add(s.target, s.access == sandbox::Access::kReadWrite);
              },
              [&](const step::FromBase& s) { add(s.target, false); },
              [&](const step::Tmpfs& s) { add(s.target, true); },
              [&](const step::Hide& s) { hidden_.push_back(s.target); }, [](const auto&) {}},
          each);
    }
  }
  for (const Mount& mount : box_.mounts) {
    for (Place& place : places_) {
      if (!place.writable && place.path == sandbox::TargetOf(mount.entry)) place.why = mount.reason;
    }
  }
}

bool BoxPlaces::IsHidden(std::string_view path) const {
  return std::ranges::any_of(hidden_,
                             [&](const std::string& each) { return IsWithin(path, each); });
}

const BoxPlaces::Place* BoxPlaces::ReadOnlyPlace(std::string_view path) const {
  const Place* found = nullptr;
  for (const Place& each : places_) {
    const bool nearer = found == nullptr || each.path.size() >= found->path.size();
    if (IsWithin(path, each.path) && nearer) found = &each;
  }
  return found != nullptr && !found->writable ? found : nullptr;
}

std::string BoxPlaces::RemedyForWriting(const std::string& path) const {
  const Place* place = ReadOnlyPlace(path);
  if (place != nullptr && !place->why.empty()) {
    return "nothing allows it: '" + place->path + "' is read-only (" + place->why + ")";
  }
  if (IsWithin(path, box_.home) && path != box_.home) {
    const std::string directory = DirectoryBelowHome(path, box_.home);
    return "--home " + ShellQuote(directory.empty() ? "SUBDIR" : directory) +
           " shows that directory of yours, to write to";
  }
  if (IsSystems(path) || ParentOf(path) == "/") {
    return "nothing allows it: programs and their settings are read-only; --env NAME chooses "
           "others";
  }
  return "--mount " + ShellQuote(ParentOf(path) + ":rw") +
         " shows that directory, if the host has it";
}

std::string BoxPlaces::RemedyForMissing(const std::string& path) const {
  const std::string below = DirectoryBelowHome(path, box_.home);
  if (!below.empty()) {
    return "--mount " + ShellQuote(box_.home + "/" + below) + " shows it, --home " +
           ShellQuote(below) + " to write to it as well";
  }
  if (IsWithin(path, box_.home)) return "--mount " + ShellQuote(path) + " shows it";
  return "--mount " + ShellQuote(ParentOf(path)) + " shows its directory";
}

bool BoxPlaces::IsMissing(const std::string& path) const {
  if (path.size() <= 1 || path == box_.home || IsWithin(path, box_.project)) return false;
  // A home can lie anywhere: root's does.
  const bool elsewhere = !IsWithin(path, box_.home) && (IsEverybodys(path) || IsSystems(path));
  return !elsewhere && exists_(path);
}

std::optional<Refusal> BoxPlaces::Explain(FileUse use) const {
  use.path = PlainPath(use.path);
  Refusal refusal{.what = use.path, .program = std::move(use.program)};
  if (use.error == ENOENT && IsMissing(use.path)) {
    refusal.kind = RefusalKind::kMissing;
    refusal.remedy = RemedyForMissing(use.path);
    return refusal;
  }
  if (use.error == ENOENT && use.written && IsMissing(ParentOf(use.path))) {
    refusal.kind = RefusalKind::kWrite;
    refusal.reason = "the directory is not in the box";
    refusal.remedy = "--mount " + ShellQuote(ParentOf(use.path) + ":rw") + " shows it";
    return refusal;
  }
  if (!IsRefusal(use.error)) return std::nullopt;
  if (IsHidden(use.path)) {
    refusal.kind = RefusalKind::kHidden;
    refusal.reason = "it looks like a file with secrets";
    const std::string name = use.path.starts_with(box_.project + "/")
                                 ? use.path.substr(box_.project.size() + 1)
                                 : use.path;
    refusal.remedy = "--show-hidden " + ShellQuote(name) + " shows it";
    return refusal;
  }
  const bool kernels = IsEverybodys(use.path) && !IsWithin(use.path, "/tmp");
  if (kernels && !IsWithin(use.path, box_.home)) return std::nullopt;
  refusal.kind = use.written ? RefusalKind::kWrite : RefusalKind::kRead;
  refusal.reason = ErrnoText(use.error);
  refusal.remedy =
      use.written ? RemedyForWriting(use.path) : "nothing allows it: its owner closed it";
  return refusal;
}

}  // namespace igloo::agent
