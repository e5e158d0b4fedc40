#pragma once

#include <array>
#include <span>
#include <string_view>

namespace igloo::language {

/// What igloo adds to an interpreter, cold and warm alike: what code displays comes back with its
/// result, and output is not held back. By the interpreter's own documented ways, so `igloo env
/// show` can show all of it, and nothing is left of it where an environment is without.
struct Conveniences {
  struct Variable {
    std::string_view name = {}, value = {};
    /// Stands between it and what the environment or the user have there; 0: theirs counts.
    char joint = 0;
  };
  struct File {
    std::string_view name = {}, text = {};  ///< below the directory of the code
  };
  std::string_view description = {};
  std::array<Variable, 3> variables = {};
  std::array<File, 2> files = {};

  std::span<const Variable> Variables() const;
  std::span<const File> Files() const;
};

}  // namespace igloo::language
