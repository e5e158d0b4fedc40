#pragma once

#include <string>

namespace igloo::config {

/// config.example.toml: every key with its description, all of them commented out with a '#' that
/// no space follows, so that the file means what no file means.
std::string ExampleFile();

/// docs/configuration.md's table of all keys, as Markdown.
std::string KeysAsMarkdown();

/// The table of all keys for other readers of the file: nix/lib/keys.json.
std::string KeysAsJson();

}  // namespace igloo::config
