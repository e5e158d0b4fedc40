#pragma once

#include <string>

namespace igloo::environment {

// Store paths of a Python and what it needs.
inline const std::string kHash(32, 'a');
inline const std::string kPython = "/nix/store/" + kHash + "-python3-3.12";
inline const std::string kBash = "/nix/store/" + std::string(32, 'b') + "-bash-5.2";
inline const std::string kLinked = "/nix/store/" + std::string(32, 'c') + "-link";

/// The closure of both as metadata has it.
inline std::string Closure() {
  return R"(["/nix/store/)" + kHash + R"(-python3-3.12", ")" + kBash + "\"]";
}

}  // namespace igloo::environment
