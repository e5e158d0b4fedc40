#pragma once

#include "clients/node.h"

namespace igloo::clients {

/// One statement of a TOML text: the header of a table, or a key with its value.
struct TomlStatement {
  enum class Kind { kTable, kTableArray, kPair };
  Kind kind = Kind::kPair;
  std::vector<std::string> path;   ///< from the document's top, the table's own path included
  std::size_t begin = 0, end = 0;  ///< from its first character to behind its line's newline
  std::size_t content_end = 0;     ///< without blanks, comment and newline
  Node value;                      ///< of kPair
};

/// All statements in order. This knows where things stand; whether keys are defined twice or dates
/// exist is for a complete parser to say.
Scanned<std::vector<TomlStatement>> ScanToml(std::string_view text);

}  // namespace igloo::clients
