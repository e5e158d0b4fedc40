#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "environment/environment.h"
#include "image/store.h"

namespace igloo::image {

/// One name in a directory of an image.
struct RootName {
  enum class Kind { kDirectory, kFile, kLink };
  std::string name = {};
  Kind kind = Kind::kFile;
  std::string points_to = {};  ///< of a link
  bool operator==(const RootName&) const = default;
};

/// What the root of an image has, gathered before anything is made of it.
struct RootLayout {
  std::vector<RootName> top = {};       ///< by name
  std::vector<RootName> etc = {};       ///< of its /etc, likewise
  std::set<std::string> programs = {};  ///< paths inside, of those that environments look for
};

/// Looks at a root file system; links lead nowhere but into it. Fails when the directory is none.
Result<RootLayout> ReadRoot(const std::string& root, const Record& record);

/// The environment of an image: its files read-only, its variables, an interpreter that it has.
/// igloo's own are /dev, /proc, /run, /tmp, /workspace, /project and who is who in /etc. Where an
/// image asks to be run as somebody or somewhere, nobody listens. Pure.
Result<environment::Environment> MakeEnvironment(const std::string& name, const Image& image,
                                                 const RootLayout& layout);

}  // namespace igloo::image
