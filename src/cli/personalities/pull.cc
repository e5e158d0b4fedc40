#include "cli/personalities/pull.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/private_directory.h"
#include "base/replace_file.h"
#include "config/sandbox_mcp_builtin.h"

namespace igloo::cli {
namespace {

enum class Made { kNew, kThere };

Result<Made> MakeDirectory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return Made::kNew;
  const int saved_errno = errno;
  if (saved_errno == EEXIST) return Made::kThere;
  return FailSys(saved_errno, "cannot make '" + path + "'");
}

}  // namespace

Result<Pulled> PullSandboxes(const std::string& place, Existing existing) {
  // SECURITY: with a generous umask others could add sandboxes of their own.
  IGLOO_TRY(MakeMissingDirectories(place));
  Pulled pulled;
  for (const config::SandboxSpec& spec : config::BuiltinSandboxes()) {
    const std::string directory = place + "/" + spec.id;
    IGLOO_ASSIGN(const Made made, MakeDirectory(directory));
    if (made == Made::kThere && existing == Existing::kSkip) {
      pulled.skipped.push_back(spec.id);
      continue;
    }
    auto written =
        ReplaceFile(directory + "/config.json", config::EncodeSandbox(spec), {.mode = 0644});
    if (!written) {
      // An empty directory would be skipped the next time.
      if (made == Made::kNew) ::rmdir(directory.c_str());
      return std::unexpected(std::move(written).error());
    }
    pulled.written.push_back(spec.id);
  }
  return pulled;
}

}  // namespace igloo::cli
