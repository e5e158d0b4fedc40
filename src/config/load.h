#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/config.h"
#include "config/decode.h"

namespace igloo::config {

inline constexpr std::size_t kMaxFile = 1U << 20;

/// The caller's environment variables, as far as they matter here; this room reads none itself.
/// An empty one counts as unset.
struct Variables {
  std::string igloo_config = {};     ///< IGLOO_CONFIG
  std::string xdg_config_home = {};  ///< XDG_CONFIG_HOME
  std::string xdg_state_home = {};   ///< XDG_STATE_HOME
  std::string home = {};             ///< HOME
  /// The configuration that this very installation of igloo came with; empty: it came with none.
  std::string installed = {};
};

/// Why a file is the one that is read.
enum class Reason {
  kFlag,       ///< --config named it
  kVariable,   ///< IGLOO_CONFIG named it
  kInstalled,  ///< this igloo was installed together with it
  kUser,       ///< the usual place; it need not exist
  kNone,       ///< there is no place to look at
};

struct Choice {
  std::string path = {};
  Reason reason = Reason::kNone;
  bool operator==(const Choice&) const = default;
};

/// --config, $IGLOO_CONFIG, what igloo was installed with, $XDG_CONFIG_HOME/igloo/config.toml,
/// ~/.config/igloo/config.toml.
Choice ChooseFile(const std::optional<std::string>& flag, const Variables& variables);

/// Where state is kept ($XDG_STATE_HOME/igloo or ~/.local/state/igloo); empty: nowhere.
std::string StateDirectory(const Variables& variables);

enum class Links { kFollow, kRefuse };

/// The text of a configuration file: a regular file of at most kMaxFile bytes.
Result<std::string> ReadConfigFile(const std::string& path, Links links = Links::kFollow);

/// How to read the file at `path`: paths in it are relative to where it was named.
DecodeOptions OptionsFor(const std::string& path, const Variables& variables,
                         std::span<const std::string_view> presets);

/// The configuration in the chosen file. Only a file in the usual place may be missing, or out of
/// reach as a whole; one that is there must be readable.
Result<Config> Load(const Choice& choice, const Variables& variables,
                    std::span<const std::string_view> presets);

}  // namespace igloo::config
