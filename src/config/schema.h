#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace igloo::config {

/// What a key takes. Times and sizes are written in the unit that the key's name ends with.
enum class Kind {
  kText,       ///< any text that is not empty
  kName,       ///< letters, digits, '.', '_' and '-'
  kPath,       ///< relative to the file that names it; "~/" is the home directory
  kInside,     ///< a whole path that code sees
  kResolvers,  ///< addresses of name servers, with commas between
  kChoice,     ///< one of a few words
  kFlag,       ///< true or false
  kCount,      ///< a whole number
  kSeconds,    ///< whole or not; milliseconds in a Config
  kMegabytes,  ///< a whole number; bytes in a Config
  kCpus,       ///< processors, whole or not; thousandths in a Config
  kTexts,      ///< a list of texts
  kVariables,  ///< a list of names of environment variables
  kRules,      ///< a list of what may be reached
  kDenied,     ///< a list of places that may not
  kHosts,      ///< a list of host names
  kPorts,      ///< a list of port numbers
  kPublished,  ///< a list of port numbers, or of "HOST:BOX"
  kTextTable,  ///< variables and their values
};

enum class Served { kNow, kLater };

/// What a key would give away; a project's own file may use only what gives nothing away.
enum class Grant {
  kNothing,
  kNetwork,
  kSecrets,
  kMounts,
  kHidden,
  kBackend,
  kLimits,
  kStart,
  kEveryone
};

/// A value of any kind, checked and in the units of a Config.
struct Checked {
  Position where = {};  ///< of its key
  bool flag = false;
  std::uint64_t number = 0;
  std::string text = {};
  const wall::Wall* wall = nullptr;
  std::vector<std::string> list = {};
  std::map<std::string, std::string> table = {};
};

/// Where values go: the own place of what has a name ([environments.NAME]), else the file's.
struct Target {
  Config& config;
  EnvironmentConfig* environment = nullptr;
  SecretConfig* secret = nullptr;
  AgentConfig* agent = nullptr;
};

/// What values a key takes.
struct Shape {
  Kind kind = Kind::kText;
  std::string_view choices = {};      ///< of kChoice: words, separated by spaces
  std::string_view later = {};        ///< those of them that are not available yet
  bool names_wall = false;            ///< the words are the names of walls
  std::uint64_t least = 1, most = 0;  ///< of numbers, in the unit of the file
};

/// One key of the configuration. The rows read files, write config.example.toml and the manual.
struct Key {
  std::string_view path;  ///< "environments.NAME.preset"; NAME stands for any name
  Shape shape;
  std::string_view fallback;  ///< as TOML; empty: none
  std::string_view example;   ///< as TOML; empty: the fallback
  std::string_view description;
  Served served;
  Grant grant;
  void (*store)(Target& target, const Checked& value) = nullptr;  ///< of every key served now
};

/// INVARIANT: rows of one section stand together, as config.example.toml prints them.
std::span<const Key> Keys();

/// A section (a table of TOML) with the line that explains it.
struct Section {
  std::string_view path;
  std::string_view description;
};
std::span<const Section> Sections();

/// "environments.NAME" of "environments.NAME.preset".
std::string_view SectionOf(const Key& key);
/// "preset" of "environments.NAME.preset".
std::string_view LastPart(std::string_view path);

std::vector<std::string_view> Words(std::string_view text);

/// What is right for a key, for people: "a whole number from 1 to 65536".
std::string Expected(const Key& key);

}  // namespace igloo::config
