#include "agent/shown_places.h"

#include <array>

#include "base/text.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

/// What the kernel and the system's services show there is no directory of the user's.
constexpr std::array<const char*, 5> kSystem = {"/proc", "/sys", "/dev", "/run", "/var/run"};

constexpr const char* kSmaller = "name a smaller directory, with its own path";

}  // namespace

Result<void> CheckShown(const std::string& directory, const ShownPlaces& places,
                        const std::string& what) {
  const auto refused = [&](const char* why, const char* hint) {
    return Fail(Errc::kInvalidArgument, what + " '" + Printable(Quoted(directory)) + "': " + why,
                hint);
  };
  if (directory == "/" || sandbox::IsWithin(places.home, directory)) {
    return refused("your home directory is in it", kSmaller);
  }
  if (!places.project.empty() && sandbox::IsWithin(places.project, directory)) {
    return refused("the project is in it", kSmaller);
  }
  if (!places.project.empty() && sandbox::IsWithin(directory, places.project)) {
    return refused("it lies in the project", "the box has it already, without its secrets");
  }
  const bool state = !places.state.empty() && (sandbox::IsWithin(places.state, directory) ||
                                               sandbox::IsWithin(directory, places.state));
  if (state) return refused("igloo's own state is there", kSmaller);
  for (const char* each : kSystem) {
    if (sandbox::IsWithin(directory, each)) {
      return refused("the system's devices and services are there",
                     "'igloo agent --help' has options for displays, sound and agents");
    }
  }
  return {};
}

}  // namespace igloo::agent
