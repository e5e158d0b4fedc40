#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "image/limits.h"

namespace igloo::image::unpack {

// What an image layout says about itself: https://github.com/opencontainers/image-spec. All of it
// is somebody else's text. Pure.

/// What a blob is said to be.
struct Descriptor {
  std::string media_type = {};
  std::string digest = {};  ///< 64 lower-case hexadecimal digits, of SHA-256
  std::uint64_t size = 0;
  std::string name = {};  ///< in an index: the tag
  std::string os = {}, architecture = {};
  bool operator==(const Descriptor&) const = default;
};

/// An index (which images there are) or a manifest (what one consists of).
struct Document {
  std::vector<Descriptor> manifests = {};  ///< of an index
  Descriptor config = {};                  ///< of a manifest
  std::vector<Descriptor> layers = {};
  bool is_index = false;
  bool operator==(const Document&) const = default;
};
Result<Document> ParseDocument(std::string_view text, const Limits& limits);

/// What its programs expect.
struct Config {
  std::string os = {}, architecture = {};
  std::vector<std::string> env = {};  ///< NAME=value
  std::vector<std::string> entrypoint = {}, command = {};
  std::string working_directory = {}, user = {};
  bool operator==(const Config&) const = default;
};
Result<Config> ParseConfig(std::string_view text);

/// The one that is meant: by its tag, if there is one, and made for Linux on this machine.
Result<Descriptor> Choose(const std::vector<Descriptor>& manifests, std::string_view tag,
                          std::string_view architecture);

/// What images call this machine: "amd64".
std::string_view OwnArchitecture();

}  // namespace igloo::image::unpack
