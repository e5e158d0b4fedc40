#include "cli/personalities/shown_secrets.h"

#include <fmt/format.h>

#include <vector>

#include "base/file.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "environment/hidden.h"
#include "service/places.h"

namespace igloo::cli {
namespace {

constexpr std::size_t kNamed = 3, kMostMark = 100;

std::string Named(const std::vector<sandbox::Hidden>& all) {
  std::string names;
  for (std::size_t i = 0; i < all.size() && i < kNamed; ++i) {
    names += (i == 0 ? "" : ", ") + Printable(all[i].path);
  }
  return all.size() <= kNamed ? names : fmt::format("{} and {} more", names, all.size() - kNamed);
}

}  // namespace

Result<void> WarnOfShownSecrets(const std::string& project, Console& console) {
  IGLOO_ASSIGN(const auto all, environment::FindHidden(project, {}));
  if (all.empty()) return {};
  std::string paths;
  for (const sandbox::Hidden& each : all) paths += each.path + '\0';
  IGLOO_ASSIGN(const std::string state, service::StatePlace());
  const std::string directory = state + "/shown-secrets";
  IGLOO_TRY(OpenPrivateDirectory(directory, OwnLevels::kTwo));
  const std::string mark = directory + "/" + Sha256Hex(project), said = Sha256Hex(paths);
  if (ReadFile(mark, kMostMark).value_or("") == said) return {};
  console.Note(fmt::format(
      "the agent can read what looks like secrets in this project: {}; 'igloo agent claude' hides "
      "such files (this is said once)",
      Named(all)));
  return ReplaceFile(mark, said);
}

}  // namespace igloo::cli
