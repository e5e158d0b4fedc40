#pragma once

#include "clients/node.h"

namespace igloo::clients {

/// Whether comments and commas behind the last member are part of the language.
enum class Dialect { kJson, kJsonc };

/// A JSON text. `root` is absent when the text has no value at all: a file that was made and never
/// written is as good as none.
struct JsonText {
  bool empty = false;
  Node root = {};
};

Scanned<JsonText> ScanJson(std::string_view text, Dialect dialect);

/// The end of the comments that stand behind `at` on the same line; `at` when there are none.
std::size_t EndOfLineComments(std::string_view text, std::size_t at);

}  // namespace igloo::clients
