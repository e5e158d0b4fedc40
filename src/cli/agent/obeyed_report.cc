#include "cli/agent/obeyed_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "base/error_text.h"
#include "base/file.h"
#include "base/private_directory.h"
#include "base/text.h"
#include "service/places.h"

namespace igloo::cli {
namespace {

using What = agent::ObeyedFinding::What;

constexpr std::size_t kMostNamed = 20, kMostKept = 256U << 20;
constexpr std::string_view kLock = ".lock";

std::string Shown(const std::string& path, const agent::ObeyedCheck& check) {
  const bool inside = path.starts_with(check.project() + "/");
  return Printable(inside ? path.substr(check.project().size() + 1) : path);
}

/// What a person types to see it.
std::string LookAt(const agent::ObeyedFinding& finding, const agent::ObeyedCheck& check) {
  const bool git = check.has_repository() && finding.path.starts_with(check.project() + "/");
  return git ? "git diff HEAD -- " + ShellQuote(Shown(finding.path, check))
             : "cat " + ShellQuote(Printable(finding.path));
}

std::string TextOf(const agent::ObeyedFinding& finding, const agent::ObeyedCheck& check) {
  const std::string path = "'" + Shown(finding.path, check) + "'";
  switch (finding.what) {
    case What::kPutRight:
      return fmt::format(
          "the box wrote {}, which your git would obey: {}; igloo took that away{}", path,
          finding.detail,
          finding.kept.empty() ? "" : ". What the box wrote: " + Printable(finding.kept));
    case What::kLeft:
      return fmt::format(
          "the box wrote {}, which your git would obey: {}; do not use git there before you have "
          "removed it: rm {}",
          path, finding.detail, ShellQuote(Printable(finding.path)));
    case What::kMade:
      return fmt::format("the box made {}: {}; look at it first: cat {}", path, finding.detail,
                         ShellQuote(Printable(finding.path)));
    case What::kChanged:
      return fmt::format("the box changed {}: {}; look at it first: {}", path, finding.detail,
                         LookAt(finding, check));
    case What::kRemoved:
      return fmt::format("the box removed {}: {}", path, finding.detail);
  }
  return {};
}

void SayFindings(agent::ObeyedCheck& check, const std::string& box, Console& console) {
  const auto state = service::StatePlace();
  if (!state) return console.Report(state.error());
  const std::string aside =
      fmt::format("{}/taken-away/{}-{}", *state, box, static_cast<long>(std::time(nullptr)));
  const auto findings = check.Finish(aside);
  if (!findings) {
    console.Note("igloo could not look at what the box '" + box + "' left in '" +
                 Printable(check.project()) +
                 "' for your git, agents and editors: " + InOneLine(findings.error()));
    return;
  }
  for (std::size_t i = 0; i < std::min(findings->size(), kMostNamed); ++i) {
    console.Note(TextOf((*findings)[i], check));
  }
  if (findings->size() > kMostNamed) {
    console.Note(fmt::format("and {} more files that agents, editors or shells obey",
                             findings->size() - kMostNamed));
  }
}

void Forget(const std::string& place) {
  ::unlink(place.c_str());
  ::unlink((place + std::string(kLock)).c_str());
}

/// What an igloo that was killed could not say.
void FinishOthers(const std::string& directory, Console& console) {
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(directory, error)) {
    const std::string place = each.path().string();
    if (place.ends_with(kLock)) continue;
    const auto lock = LockPrivateFile(place + std::string(kLock));
    if (!lock) continue;  // its box runs
    const auto bytes = ReadFile(place, kMostKept);
    auto check = bytes ? agent::ObeyedCheck::Decode(*bytes) : std::nullopt;
    if (check) SayFindings(*check, each.path().filename().string(), console);
    Forget(place);
  }
}

/// Not synced: a box would wait for the disk each time.
Result<void> Keep(const std::string& place, const std::string& bytes) {
  const UniqueFd file(
      ::open(place.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot write '" + Printable(place) + "'");
  }
  return WriteAll(file.get(), bytes);
}

}  // namespace

Result<std::unique_ptr<ObeyedReport>> ObeyedReport::Begin(const agent::Box& box,
                                                          const std::string& name,
                                                          Console& console) {
  IGLOO_ASSIGN(const std::string state, service::StatePlace());
  const std::string directory = state + "/obeyed";
  IGLOO_TRY(OpenPrivateDirectory(directory, OwnLevels::kTwo));
  FinishOthers(directory, console);
  if (!box.changes.empty()) return nullptr;
  auto check = agent::ObeyedCheck::Begin(box.project, box.work_tree, box.home);
  if (!check) {
    return Wrap(
        "igloo could not look at what your programs obey in the project, and would not see "
        "what the box changes of it",
        std::move(check).error());
  }
  // Two boxes of one name do not run at once.
  std::string place = directory + "/" + name;
  IGLOO_ASSIGN(UniqueFd lock, LockPrivateFile(place + std::string(kLock)));
  IGLOO_TRY(Keep(place, check->Encode()));
  return std::unique_ptr<ObeyedReport>(
      new ObeyedReport(*std::move(check), std::move(place), std::move(lock)));
}

void ObeyedReport::Finish(Console& console) {
  SayFindings(check_, place_.substr(place_.rfind('/') + 1), console);
  Forget(place_);
  lock_.Reset();
}

}  // namespace igloo::cli
