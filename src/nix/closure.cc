#include "nix/closure.h"

#include "base/text.h"
#include "environment/artifact.h"
#include "nix/command.h"

namespace igloo::nix {

Result<std::vector<std::string>> Closure(const Settings& settings, const std::string& store_path) {
  // SECURITY: nothing but a store path becomes an argument: a link may lead anywhere.
  if (!environment::IsStorePath(store_path)) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(store_path) + "' is no path in Nix's store",
                "store paths look like /nix/store/HASH-name");
  }
  const Command command{.program = Program::kStore,
                        .args = {"--query", "--requisites", store_path}};
  IGLOO_ASSIGN(const std::string text, Call(settings, command));
  return environment::ParseClosure(text);
}

}  // namespace igloo::nix
