#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "config/config.h"
#include "environment/artifact.h"
#include "environment/environment.h"
#include "image/reference.h"
#include "image/store.h"

namespace igloo::service {

/// The user's images. Fails when there is no place for them.
Result<image::Store> OpenImages();
/// The file in it that changes when images come or go; empty: nowhere.
std::string ImagesFile();

/// What `image` in an environment's section means; paths are relative to the file.
Result<image::Reference> ReferenceOf(const config::EnvironmentConfig& own);
/// What it means on a command line, where the reader stands.
Result<image::Reference> ReferenceHere(std::string_view text);

/// Whether an image that lies on this machine, but not unpacked, is unpacked now.
enum class Unpacking { kNow, kNever };

/// The environment that an [environments.NAME] with an image is. What was never fetched is not
/// fetched by this: the error says how.
Result<environment::Environment> ReadImageEnvironment(const config::EnvironmentConfig& own,
                                                      Unpacking unpacking);

/// The environment of an artifact that names an image, likewise.
Result<environment::Environment> OpenImageArtifact(const environment::Artifact& artifact);

/// Forgets an image by its name, and removes it; false: there is none of that name.
Result<bool> RemoveImage(std::string_view text);

/// Which images a configuration uses, by image::ToText: what `igloo env gc` must keep.
std::set<std::string> WantedImages(const config::Config& config);

}  // namespace igloo::service
