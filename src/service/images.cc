#include "service/images.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/text.h"
#include "image/environment.h"
#include "image/unpacker.h"
#include "service/places.h"
#include "service/programs.h"

namespace igloo::service {
namespace {

using image::Image;
using image::Reference;
using image::Store;

std::string Directory() {
  const char* data = std::getenv("XDG_DATA_HOME");
  return image::ImagesDirectory(data != nullptr ? data : "", ReadVariables().home);
}

Result<Image> FindImage(const Reference& reference, Unpacking unpacking) {
  if (reference.kind == Reference::Kind::kDirectory) return Image{.root = reference.path};
  IGLOO_ASSIGN(const Store store, OpenImages());
  IGLOO_ASSIGN(auto found, store.Look(reference));
  if (found) return *std::move(found);
  const std::string text = ToText(reference);
  const bool here = reference.kind != Reference::Kind::kRegistry;
  if (here && unpacking == Unpacking::kNow) {
    IGLOO_ASSIGN(const std::string program, FindProgram("igloo-image"));
    auto added = store.Add(reference, program);
    if (!added) return Wrap("image '" + Printable(text) + "'", std::move(added).error());
    return added;
  }
  return Fail(
      Errc::kFailedPrecondition,
      "the image '" + Printable(text) + "' is not " + (here ? "unpacked" : "pulled") + " yet",
      "igloo env pull " + ShellQuote(Printable(text)));
}

/// Keeps it from being removed for as long as this process lives.
Result<void> HoldWhileRunning(const Image& found) {
  static std::mutex mutex;
  static std::map<std::string, UniqueFd> held;  // by root; guarded by mutex
  IGLOO_ASSIGN(UniqueFd lock, Store::Hold(found));
  const std::lock_guard guard(mutex);
  held.insert_or_assign(found.root, std::move(lock));
  return {};
}

Result<environment::Environment> EnvironmentOf(const std::string& name, const Reference& reference,
                                               Unpacking unpacking) {
  IGLOO_ASSIGN(const Image found, FindImage(reference, unpacking));
  if (reference.kind != Reference::Kind::kDirectory) {
    IGLOO_TRY(HoldWhileRunning(found));
  }
  IGLOO_ASSIGN(const image::RootLayout layout, image::ReadRoot(found.root, found.record));
  return image::MakeEnvironment(name, found, layout);
}

}  // namespace

Result<Store> OpenImages() {
  std::string directory = Directory();
  if (directory.empty()) {
    return Fail(Errc::kFailedPrecondition, "there is no place for images",
                "set HOME or XDG_DATA_HOME");
  }
  return Store(std::move(directory));
}

std::string ImagesFile() {
  const std::string directory = Directory();
  return directory.empty() ? "" : directory + "/names.json";
}

Result<Reference> ReferenceOf(const config::EnvironmentConfig& own) {
  return image::ParseReference(
      own.source.value, {.directory = std::filesystem::absolute(own.file).parent_path().string(),
                         .home = ReadVariables().home});
}

Result<Reference> ReferenceHere(std::string_view text) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  return image::ParseReference(text, {.directory = here, .home = ReadVariables().home});
}

Result<environment::Environment> ReadImageEnvironment(const config::EnvironmentConfig& own,
                                                      Unpacking unpacking) {
  IGLOO_ASSIGN(const Reference reference, ReferenceOf(own));
  return EnvironmentOf(own.name, reference, unpacking);
}

Result<environment::Environment> OpenImageArtifact(const environment::Artifact& artifact) {
  const std::string& image = artifact.metadata.image;
  IGLOO_ASSIGN(const Reference reference, image::ParseReference(image, {}));
  // SECURITY: which directories of the host are shown says the user's own configuration alone.
  if (reference.kind != Reference::Kind::kRegistry) {
    return Fail(Errc::kInvalidArgument,
                "'" + Printable(image) +
                    "' is no image of a registry, and no other may be named "
                    "by an artifact",
                "build it with a name such as docker.io/library/debian:12");
  }
  IGLOO_ASSIGN(environment::Environment made,
               EnvironmentOf(artifact.metadata.name, reference, Unpacking::kNever));
  return environment::OverImage(artifact, std::move(made));
}

Result<bool> RemoveImage(std::string_view text) {
  const auto reference = ReferenceHere(text);
  const auto store = OpenImages();
  if (!reference || !store) return false;
  return store->Remove(*reference);
}

std::set<std::string> WantedImages(const config::Config& config) {
  std::set<std::string> wanted;
  for (const auto& [name, own] : config.environments) {
    if (own.source.kind != config::SourceKind::kImage) continue;
    if (const auto reference = ReferenceOf(own)) wanted.insert(ToText(*reference));
  }
  return wanted;
}

}  // namespace igloo::service
