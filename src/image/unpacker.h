#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "image/record.h"

namespace igloo::image {

/// Runs igloo-image: `words` are its arguments, `source` becomes its descriptor 3 and `target`
/// (-1: none) its 4. Nothing else of this process reaches it. `answer`, if given, gets the text
/// that the record was read from.
Result<Record> RunUnpacker(const std::string& program, const std::vector<std::string>& words,
                           int source, int target, std::string* answer = nullptr);

/// The directory of images: $XDG_DATA_HOME/igloo/images, or below ~/.local/share; empty: nowhere.
std::string ImagesDirectory(const std::string& xdg_data_home, const std::string& home);

}  // namespace igloo::image
