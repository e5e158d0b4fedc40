#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace igloo::image {

/// What `image = "..."` names. Pure data; nothing was looked up.
struct Reference {
  enum class Kind {
    kDirectory,  ///< a root file system that lies unpacked: "/srv/rootfs", "dir:PATH"
    kLayout,     ///< an OCI image layout: "oci:PATH[:TAG]"
    kArchive,    ///< a tar of one: "oci-archive:PATH[:TAG]"
    kRegistry,   ///< to be fetched with `igloo env pull`: "docker.io/library/debian:12"
  };
  Kind kind = Kind::kRegistry;
  std::string path = {};  ///< absolute, or the whole name in a registry with its tag or digest
  std::string tag = {};   ///< of a layout or an archive
  bool operator==(const Reference&) const = default;
};

/// What relative paths and "~/" are relative to.
struct Base {
  std::string directory = {};
  std::string home = {};
};

/// Fails on what names no image. "debian" is "docker.io/library/debian:latest", as everywhere.
Result<Reference> ParseReference(std::string_view text, const Base& base);

/// One spelling for each: what images are recorded by.
std::string ToText(const Reference& reference);

}  // namespace igloo::image
