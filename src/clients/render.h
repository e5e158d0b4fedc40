#pragma once

#include "clients/edit.h"

namespace igloo::clients {

/// A text in double quotes; the same in JSON and in TOML. The text is valid UTF-8.
std::string Quote(std::string_view text);

enum class Spacing { kWide, kTight };

/// The value of one field.
std::string FieldValue(const Field& field, const Server& server, Spacing spacing);

/// How a JSON text is laid out at some place.
struct Layout {
  bool own_lines = true;  ///< every member stands on a line of its own
  std::string_view newline = "\n";
  std::string indent = {};  ///< of the member
  std::string unit = "  ";  ///< one level more
  Spacing spacing = Spacing::kWide;
};

std::string_view Colon(const Layout& layout);

/// The object that a JSON client starts a server from.
std::string JsonBlock(const Client& client, const Server& server, const Layout& layout);

/// The table of a TOML client, with its header.
std::string TomlBlock(const Client& client, const Server& server, std::string_view newline);

}  // namespace igloo::clients
