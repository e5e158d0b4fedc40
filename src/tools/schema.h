#pragma once

#include <string_view>

#include "mcp/types.h"

namespace igloo::tools {

/// A property of a JSON schema.
inline mcp::JsonObject Property(std::string_view type, std::string_view description) {
  return {{"type", type}, {"description", description}};
}

/// An array of texts.
inline mcp::JsonObject TextsProperty(std::string_view description) {
  mcp::JsonObject texts = Property("array", description);
  texts["items"] = mcp::JsonObject{{"type", "string"}};
  return texts;
}

}  // namespace igloo::tools
