#include "tools/resources.h"

#include <utility>

#include "session/files/leftovers.h"
#include "tools/clip.h"

namespace igloo::tools {
namespace {

/// As text it must fit into an answer; as bytes it always does.
constexpr std::size_t kMostJson = 6U << 20;
bool TravelsAsText(std::string_view bytes) {
  return session::IsPlainText(bytes) && JsonSize(bytes) <= kMostJson;
}

}  // namespace

mcp::Resource ResourceOf(service::Resource resource) {
  return {.uri = std::move(resource.uri),
          .name = std::move(resource.name),
          .description = std::move(resource.description),
          .mime_type = std::move(resource.mime_type),
          .size = resource.size};
}

mcp::ResourceContents ContentsOf(service::ResourceContents contents) {
  mcp::ResourceContents out{.uri = std::move(contents.uri),
                            .mime_type = std::move(contents.mime_type)};
  if (TravelsAsText(contents.bytes)) {
    out.body = std::move(contents.bytes);
  } else {
    out.body = mcp::Blob{std::move(contents.bytes)};
  }
  return out;
}

}  // namespace igloo::tools
