#include "service/sandbox_images.h"

#include <optional>
#include <set>

#include "base/text.h"
#include "environment/host.h"
#include "service/environments.h"
#include "service/images.h"
#include "service/places.h"
#include "service/programs.h"

namespace igloo::service {
namespace {

using image::Reference;

config::EnvironmentConfig EnvironmentOf(const config::FoundSandbox& sandbox) {
  return {.name = sandbox.spec.id,
          .file = sandbox.directory + "/config.json",
          .source = {.kind = config::SourceKind::kImage, .value = sandbox.spec.image},
          .description = sandbox.spec.description};
}

bool WasPulled(const Reference& reference) {
  const auto store = OpenImages();
  const auto found = store ? store->Look(reference) : std::unexpected(store.error());
  return found && found->has_value();
}

/// Whether a sandbox names an environment. A plain name may be that of an image, too, if igloo has
/// no environment of it.
bool NamesEnvironment(const config::SandboxSpec& spec) {
  return !config::EnvironmentNameOf(spec).empty();
}

/// What kind of image a sandbox names; nothing: an environment and no other.
std::optional<Reference> ImageOf(const config::FoundSandbox& sandbox) {
  if (sandbox.spec.image.empty()) return std::nullopt;
  if (NamesEnvironment(sandbox.spec) && sandbox.spec.image.contains('/')) return std::nullopt;
  auto reference = ReferenceOf(EnvironmentOf(sandbox));
  if (!reference) return std::nullopt;
  return *std::move(reference);
}

}  // namespace

void AddSandboxImages(config::SandboxScan& scan, config::Config& config) {
  const auto taken = [&](const std::string& name) {
    return config.environments.contains(name) || environment::FindHostEnvironment(name) != nullptr;
  };
  for (config::FoundSandbox& each : scan.found) {
    const auto reference = ImageOf(each);
    if (!reference) continue;
    const bool registry = reference->kind == Reference::Kind::kRegistry;
    if (registry && NamesEnvironment(each.spec) && taken(each.spec.image)) continue;
    if (registry && !WasPulled(*reference)) continue;
    config::EnvironmentConfig own = EnvironmentOf(each);
    while (taken(own.name)) own.name += "-image";
    each.spec.image = own.name;
    config.environments.emplace(own.name, std::move(own));
  }
}

Result<std::vector<std::string>> CollectImages(const config::Config& config) {
  std::set<std::string> wanted = WantedImages(config);
  wanted.merge(ImagesOfArtifacts(config));
  IGLOO_ASSIGN(const auto own, config::LoadSandboxMcpConfig(ReadVariables()));
  for (const config::FoundSandbox& each : config::ScanSandboxes(own.sandboxes_path).found) {
    if (const auto reference = ImageOf(each)) wanted.insert(ToText(*reference));
  }
  const auto store = OpenImages();
  if (!store) return std::vector<std::string>();  // no place, no images
  return store->Collect(wanted);
}

Result<Built> BuildSandboxImage(const config::FoundSandbox& sandbox) {
  const auto reference = ImageOf(sandbox);
  if (!reference || reference->kind == Reference::Kind::kDirectory) return Built::kNothing;
  if (reference->kind == Reference::Kind::kRegistry) {
    if (NamesEnvironment(sandbox.spec) || WasPulled(*reference)) return Built::kNothing;
    return Fail(Errc::kFailedPrecondition,
                "the image '" + Printable(ToText(*reference)) + "' is not pulled yet",
                "igloo env pull " + ShellQuote(ToText(*reference)));
  }
  IGLOO_ASSIGN(const image::Store store, OpenImages());
  IGLOO_ASSIGN(const std::string program, FindProgram("igloo-image"));
  IGLOO_TRY(store.Add(*reference, program));
  return Built::kUnpacked;
}

}  // namespace igloo::service
