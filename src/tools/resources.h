#pragma once

#include "mcp/types.h"
#include "service/resource.h"

namespace igloo::tools {

/// What the service calls a resource, as the protocol has it.
mcp::Resource ResourceOf(service::Resource resource);

/// As text if it is some and fits, else as bytes.
mcp::ResourceContents ContentsOf(service::ResourceContents contents);

}  // namespace igloo::tools
