#pragma once

#include <optional>
#include <string>
#include <vector>

namespace igloo::bench {

/// A number that has a bar of its own, in the unit that its name says.
struct Figure {
  std::string key = {}, name = {};
  double value = 0;
  std::optional<double> bar = {};  ///< at most; nothing: only told
};

struct Figures {
  std::vector<Figure> all = {};
  std::string failure = {};  ///< why the rest could not be measured

  void Tell(std::string key, std::string name, double value, std::optional<double> bar = {}) {
    all.push_back({.key = std::move(key), .name = std::move(name), .value = value, .bar = bar});
  }
};

}  // namespace igloo::bench
