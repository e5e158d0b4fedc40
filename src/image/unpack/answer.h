#pragma once

#include <string>

#include "base/error.h"
#include "image/unpack/unpack.h"

namespace igloo::image::unpack {

/// What igloo-image tells igloo, which believes none of it: see image/record.h.
std::string ToJson(const Summary& summary);
std::string ToJson(const Error& error);

}  // namespace igloo::image::unpack
