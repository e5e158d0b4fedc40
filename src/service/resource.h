#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace igloo::service {

/// Something that a run or a session left, which clients can read by its URI.
struct Resource {
  std::string uri = {}, name = {};
  std::string description = {}, mime_type = {};
  std::uint64_t size = 0;
};

struct ResourceContents {
  std::string uri = {}, mime_type = {};
  std::string bytes = {};
};

/// The type of a file, by its first bytes and its name. `text`: it is plain text.
std::string MimeTypeOf(std::string_view path, std::string_view bytes, bool text);

}  // namespace igloo::service
