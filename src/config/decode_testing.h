#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/decode.h"

namespace igloo::config::testing {

inline constexpr std::string_view kPresets[] = {"shell", "python", "node"};

inline DecodeOptions Options(Origin origin = Origin::kUser) {
  return {.file = "c.toml",
          .directory = "/etc/igloo",
          .home = "/home/ada",
          .origin = origin,
          .presets = kPresets};
}

inline Config Fine(std::string_view text) {
  Decoded decoded = Decode(text, Options());
  for (const Problem& problem : decoded.problems) ADD_FAILURE() << problem.what;
  return std::move(decoded.config);
}

/// All problems as they are shown: "LINE:COLUMN: what | hint".
inline std::vector<std::string> Problems(std::string_view text, Origin origin = Origin::kUser) {
  std::vector<std::string> out;
  for (const Problem& each : Decode(text, Options(origin)).problems) {
    out.push_back(std::to_string(each.where.line) + ":" + std::to_string(each.where.column) + ": " +
                  each.what + " | " + each.hint);
  }
  return out;
}

}  // namespace igloo::config::testing
