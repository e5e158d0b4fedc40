#pragma once

#include <string_view>

namespace igloo::tools {

/// Whether clients can show something of this type as a picture.
bool IsImage(std::string_view mime_type);

/// Whether it is one from its beginning to its end. Model APIs refuse a whole conversation for a
/// picture that is broken, and code that was stopped leaves such.
bool IsWholePicture(std::string_view mime_type, std::string_view bytes);

}  // namespace igloo::tools
