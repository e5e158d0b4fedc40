#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/setup.h"
#include "session/warm/pool.h"

namespace igloo::service {

/// What the interpreters of orders are made of. Planning takes as long as small code does, so what
/// was planned a moment ago for the same is used again: nothing but the host's files could have
/// changed meanwhile, and the launcher looks at those itself before it mounts them. One thread.
class Recipes {
 public:
  /// Of sessions for an order that has a driver, and otherwise of programs that wait for their
  /// code; the order's code and files are not looked at. `now` never goes back.
  Result<std::shared_ptr<const session::Recipe>> For(const Order& order, std::int64_t now_micros);

 private:
  /// All that a plan follows from, besides the host.
  struct Key {
    std::uint64_t setup = 0;
    const wall::Wall* wall = &wall::kDefault;
    std::string environment = {};
    const language::Driver* driver = nullptr;
    std::optional<std::uint64_t> memory_bytes = {}, millicpus = {}, processes = {}, open_files = {};
    environment::Place place = {};
    std::map<std::string, std::string> variables = {};
    network::Wanted network = {};
    bool operator==(const Key&) const = default;
  };
  struct Kept {
    Key key = {};
    std::int64_t planned_micros = 0;
    std::shared_ptr<const session::Recipe> recipe = {};  // shared with interpreters made of it
  };

  std::vector<Kept> kept_ = {};
};

}  // namespace igloo::service
